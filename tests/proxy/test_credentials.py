"""Which values of an environment are secrets."""

from __future__ import annotations

import pytest

from wiretape.proxy.credentials import secret_values

AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "sk-proj-0123456789abcdef"),
        ("openai_api_key", "sk-proj-0123456789abcdef"),
        ("OpenAiApiKey", "0123456789abcdef"),
        ("GITHUB_TOKEN", "ghp_0123456789abcdef"),
        ("HF_TOKEN", "hf_abcdefghijkl"),
        ("AWS_SECRET_ACCESS_KEY", AWS),
        ("AWS_SECRET_ACCESS_KEY", "/" + AWS),
        ("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjE" * 3),
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("DB_PASSWORD", "correcthorse"),
        ("DB_PASSWORD", "ab;cd=ef12"),
        ("PGPASSWORD", "hunter2hunter2"),
        ("MYSQL_PWD", "hunter2hunter2"),
        ("APP_SECRET", "two words"),
        ("SECRET_KEY_BASE", "f00f00f00f00f00f"),
        ("SESSION_COOKIE", "sid=0123456789"),
        ("SIGNING_KEY", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"),
        ("GITHUB_TOKEN_2", "ghp_0123456789abcdef"),
    ],
)
def test_it_takes_the_value_of_a_secret_variable(name: str, value: str) -> None:
    assert secret_values({name: value}) == (value,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_TOKENS", "4096"),
        ("MAX_TOKENS", "1000000000"),
        ("TOKEN_LIMIT", "unlimited-plus-1"),
        ("TOKENIZERS_PARALLELISM", "true"),
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
        ("XAUTHORITY", "/home/ada/.Xauthority"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/keys/project-1234567890ab.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "keys/project-1234567890ab.json"),
        ("TLS_KEY", "~/certs/server.key"),
        ("API_KEY_FILE", "0123456789abcdef"),
        ("AUTH_METHOD", "oauth2-personal"),
        ("AUTH", "oauth-personal"),
        ("TOKEN_URL", "https://auth.example.test/oauth/token"),
        ("AUTH_TOKEN", "https://auth.example.test/oauth/token"),
        ("SORT_KEY", "created_at"),
        ("API_KEY", "disabled"),
        ("API_KEY", "Changeme"),
        ("API_KEY", "no-key-required"),
        ("API_KEY", "short"),
        ("API_KEY", ""),
        ("PASSWORD", "   x   "),
        ("KEYBOARD_LAYOUT", "de-latin1-nodeadkeys"),
        ("MONKEY", "banana-split-42"),
        ("COMPASS_SETTING", "north-east-42"),
        ("PWD", "0123456789abcdef"),
        ("PATH", "/usr/bin:/bin"),
        ("MODEL", "gpt-4o-mini-2024-07-18"),
        ("DATABASE_URL", "postgres://postgres:postgres@localhost/app"),
        ("DATABASE_URL", "postgres://app_user_1@localhost/app"),
        ("OPENAI_BASE_URL", "https://api.example.test/v1?api-version=2024-10-21"),
        ("BAD_URL", "http://[::1"),
    ],
)
def test_it_leaves_what_is_no_secret(name: str, value: str) -> None:
    assert secret_values({name: value}) == ()


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("DATABASE_URL", "postgres://app:s3cr3t-pass@db:5432/x", {"s3cr3t-pass"}),
        ("HTTPS_PROXY", "http://ada:p%40ss%2Fword1@proxy:3128", {"p%40ss%2Fword1", "p@ss/word1"}),
        ("SENTRY_DSN", "https://0123456789abcdef0123@o1.ingest.example.test/1", {"0123456789abcdef0123"}),
        ("CALLBACK", "https://x.test/hook?api_key=0123456789abc&page=12345678", {"0123456789abc"}),
        (
            "STORAGE",
            "DefaultEndpointsProtocol=https;AccountName=ada;AccountKey=bG9uZ2VyIHRoYW4gaXQgaXM=;EndpointSuffix=x.test",
            {"bG9uZ2VyIHRoYW4gaXQgaXM="},
        ),
        ("BUS", "Endpoint=sb://x.test/;SharedAccessKeyName=Root;SharedAccessKey=abcDEF123456+/=", {"abcDEF123456+/="}),
        ("ODBC", "Driver={X};Server=db;Uid=ada;Pwd=hunter2hunter2;", {"hunter2hunter2"}),
        (
            "GOOGLE_CREDENTIALS",
            '{"type": "service_account", "private_key": "-----BEGIN x", "auth": {"token": "0123456789ab"}}',
            {"-----BEGIN x", "0123456789ab"},
        ),
        ("APP_SECRET", "{not json at all", {"{not json at all"}),
    ],
)
def test_it_takes_the_secret_part(name: str, value: str, secrets: set[str]) -> None:
    assert {*secret_values({name: value})} == secrets


def test_it_gives_each_once_longest_first() -> None:
    """A longer secret may hold a shorter one, and must be replaced first."""
    found = secret_values(
        {"A_TOKEN": "abcdefgh1", "B_TOKEN": "abcdefgh1-longer", "C_TOKEN": "abcdefgh1", "D_TOKEN": " abcdefgh2\n"}
    )
    assert found == ("abcdefgh1-longer", "abcdefgh1", "abcdefgh2")
