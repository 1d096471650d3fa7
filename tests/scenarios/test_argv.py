from __future__ import annotations

import pytest

from wiretape.scenarios.argv import without_secrets


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (["a", "--api-key", "abc", "x"], ("a", "--api-key", "${API_KEY}", "x")),
        (["a", "--token=abc"], ("a", "--token=${TOKEN}")),
        (["env", "OPENAI_API_KEY=abc", "python"], ("env", "OPENAI_API_KEY=${OPENAI_API_KEY}", "python")),
        (["curl", "-H", "Authorization: Bearer abc"], ("curl", "-H", "Authorization: ${AUTHORIZATION}")),
        (["a", "sk-abcdefghijklmnopqrstuvwx"], ("a", "${SECRET}")),
        (["a", "--x=sk-abcdefghijklmnopqrstuvwx"], ("a", "--x=${SECRET}")),
        (["a", "https://me:pw@h.test/x?api_key=abc&q=1"], ("a", "https://${SECRET}@h.test/x?api_key=${SECRET}&q=1")),
        (["a", "--shop=hush-hush-hush", "hush-hush-hush"], ("a", "--shop=${SHOP_TOKEN}", "${SHOP_TOKEN}")),
        (["a", "hush-hush-hush+hush-hush-hush-2"], ("a", "${SHOP_TOKEN}+${SHOP_PASSWORD}")),
        (["a", "--", "-c", "echo ${HOME} $HOME"], ("a", "--", "-c", "echo $${HOME} $HOME")),
        (["--max-tokens", "100", "-m=gpt-5", "x=y", "C:\\d", ""], ("--max-tokens", "100", "-m=gpt-5", "x=y", "C:\\d", "")),
        (["curl", "-u", "user:curlpasswd1", "x"], ("curl", "-u", "user:${PASSWORD}", "x")),
        (["curl", "-uuser:curlpasswd1"], ("curl", "-uuser:${PASSWORD}")),
        (["curl", "--proxy-user=me:a:b"], ("curl", "--proxy-user=me:${PASSWORD}")),
        (["curl", "-d", '{"password":"hunter2","n":1}'], ("curl", "-d", '{"password":"${SECRET}","n":1}')),
        (["curl", '--json={"secret":1234}'], ("curl", '--json={"secret":"${SECRET}"}')),
        (["curl", "-d", "a=1&password=hunter2"], ("curl", "-d", "a=1&password=${SECRET}")),
        (["curl", "-d", "password=hunter2&a=1"], ("curl", "-d", "password=${SECRET}&a=1")),
        (["curl", "-H", "Private-Token: abc"], ("curl", "-H", "Private-Token: ${PRIVATE_TOKEN}")),
        (["sh", "-c", "X_TOKEN=abc curl -u 'me:pw' x"], ("sh", "-c", "X_TOKEN=${X_TOKEN} curl -u 'me:${PASSWORD}' x")),
        (["sh", "-c", 'x \'{"n": 1, "password": "a b"}\' ${X}'], ("sh", "-c", 'x \'{"n": 1, "password": "${SECRET}"}\' $${X}')),
        (["sh", "-c", "x -u root"], ("sh", "-c", "x -u root")),
        (["a", "-u", "root"], ("a", "-u", "root")),
        (["a", "--password", "--verbose"], ("a", "--password", "--verbose")),
        (["a", "https://h.test/x?q=1#f"], ("a", "https://h.test/x?q=1#f")),
    ],
)  # fmt: skip
def test_it_takes_secrets_out_of_the_command(argv, kept):
    environment = {"SHOP_TOKEN": "hush-hush-hush", "SHOP_PASSWORD": "hush-hush-hush-2", "SHOP_KEY": "short", "PATH": "/usr/bin"}
    assert without_secrets(argv, environment) == kept
