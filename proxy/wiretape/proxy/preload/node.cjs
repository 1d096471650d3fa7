'use strict';

/*
 * Leads a Node program's HTTP through the proxy that its environment names. Loaded by --require in NODE_OPTIONS, so child
 * processes and worker threads have it too.
 *
 * Node heeds the proxy variables only since 22.21 and 24 (NODE_USE_ENV_PROXY), and even then not for agents that a library
 * makes itself nor for `ws`. Three ways are led here, each only where Node does not do it already:
 *   1. global fetch: a new Agent of the undici that Node bundles, with a `connect` of ours;
 *   2. http.Agent and https.Agent: createConnection on their prototypes;
 *   3. requests with a createConnection of their own (ws): where that function dials the request's own target with net.connect
 *      or tls.connect, the tunnel takes the place of its socket. Any other function is left to itself.
 * All three ask for a tunnel by CONNECT, for plain http too: the sidecar reads clear text inside it, and a request's form need
 * not change. Loopback goes through as well; unix sockets and the proxy itself do not.
 *
 * Silent: whatever fails in here leaves Node as it was.
 */

const http = require('http');
const https = require('https');
const net = require('net');
const tls = require('tls');

const MARK = Symbol.for('wiretape.preload');
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const CONNECT_TIMEOUT_MS = 10000; // undici's own default
const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

const plainConnect = net.connect;
const secureConnect = tls.connect;

let armed = null; // the request whose own createConnection is running right now, and what it dialled

function proxyFor(scheme) {
  const given = process.env[`${scheme}_proxy`] || process.env[`${scheme.toUpperCase()}_PROXY`];
  if (!given) return null;
  const url = new URL(given);
  if (url.protocol !== 'http:') return null;
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: bare(url.hostname),
    port: Number(url.port) || 80,
    authorization: url.username ? `Basic ${Buffer.from(login).toString('base64')}` : null,
  };
}

function bare(host) {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function isProxy(proxy, host, port) {
  return Number(port) === proxy.port && (host === proxy.host || (LOOPBACK.has(host) && LOOPBACK.has(proxy.host)));
}

/* Calls done(error) or done(null, socket), the socket then being a connection to host:port. */
function openTunnel(proxy, host, port, done) {
  const socket = plainConnect({ host: proxy.host, port: proxy.port });
  let head = Buffer.alloc(0);

  function finish(error) {
    socket.removeListener('readable', onReadable);
    socket.removeListener('error', finish);
    socket.removeListener('end', onEnd);
    if (error) socket.destroy();
    done(error, error ? undefined : socket);
  }
  function onEnd() {
    finish(new Error(`the proxy closed the connection before the tunnel to ${host}:${port} was open`));
  }
  function onReadable() {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) {
      head = Buffer.concat([head, piece]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) continue;
      const status = head.toString('latin1', 0, head.indexOf('\r\n'));
      const rest = head.subarray(end + 4);
      finish(/^HTTP\/1\.[01] 2/.test(status) ? null : new Error(`the proxy refused the tunnel to ${host}:${port}: ${status}`));
      if (rest.length && !socket.destroyed) socket.unshift(rest);
      return;
    }
  }

  socket.setNoDelay(true);
  socket.on('readable', onReadable);
  socket.once('error', finish);
  socket.once('end', onEnd);
  const target = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const login = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : '';
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`);
}

/* 1. global fetch */

function leadFetch(proxies) {
  if (!globalThis[DISPATCHER]) void globalThis.Headers; // its getter loads the bundled undici, which makes its dispatcher
  const current = globalThis[DISPATCHER];
  if (!current || current.constructor.name !== 'Agent') return; // none, Node's own EnvHttpProxyAgent, or somebody's choice
  const Agent = current.constructor;
  globalThis[DISPATCHER] = new Agent({ connect: (options, callback) => connectFetch(proxies, options, callback) });
}

function connectFetch(proxies, options, callback) {
  const secure = options.protocol === 'https:';
  const host = bare(options.hostname);
  const port = Number(options.port) || (secure ? 443 : 80);
  const proxy = secure ? proxies.https : proxies.http;
  let open = null;
  const timer = setTimeout(() => {
    const error = new Error('Connect Timeout Error');
    error.code = 'UND_ERR_CONNECT_TIMEOUT';
    settle(error);
  }, CONNECT_TIMEOUT_MS);

  function settle(error, socket) {
    clearTimeout(timer);
    if (!callback) {
      if (socket) socket.destroy();
      return;
    }
    const tell = callback;
    callback = null;
    if (error && open) open.destroy();
    tell(error || null, error ? undefined : socket);
  }
  function raw(error, socket) {
    if (error || !secure || !callback) return settle(error, socket);
    const servername = options.servername || (net.isIP(host) ? '' : host);
    open = secureConnect({ socket, host, servername, ALPNProtocols: ['http/1.1'] });
    open.once('secureConnect', () => settle(null, open));
    open.on('error', settle);
    return undefined;
  }

  if (proxy && !isProxy(proxy, host, port)) return openTunnel(proxy, host, port, raw);
  const direct = plainConnect({ host, port });
  direct.setNoDelay(true);
  direct.once('connect', () => raw(null, direct));
  direct.on('error', settle);
  return undefined;
}

/* 2. http.Agent and https.Agent */

function leadAgent(Agent, proxy, secure) {
  const original = Agent.prototype.createConnection;
  Agent.prototype.createConnection = function createConnection(...args) {
    const [options, callback] = args;
    const native = this && this.options && this.options.proxyEnv; // Node leads this agent itself
    if (native || typeof callback !== 'function' || !isDialled(options, proxy)) return original.apply(this, args);
    openTunnel(proxy, options.host || 'localhost', options.port, (error, socket) => {
      if (error) return callback(error);
      if (options.timeout) socket.setTimeout(options.timeout);
      try {
        return callback(null, secure ? original.call(this, { ...options, socket }) : socket);
      } catch (failure) {
        return callback(failure);
      }
    });
    return undefined;
  };
}

/* Whether these options mean a connection by TCP to somebody else than the proxy. */
function isDialled(options, proxy) {
  if (!options || typeof options !== 'object' || options.socketPath || options.path || options.socket) return false;
  return Boolean(options.port) && !isProxy(proxy, options.host || 'localhost', options.port);
}

/* 3. requests with a createConnection of their own */

function leadRequest(module, name, proxy) {
  const original = module[name];
  const led = function (...args) {
    const at = args.slice(0, 2).findIndex(hasOwnConnection);
    if (at >= 0) args[at] = { ...args[at], createConnection: detour(args[at].createConnection, proxy) };
    return original.apply(this, args);
  };
  module[name] = Object.defineProperties(led, { name: { value: name }, length: { value: original.length } });
}

function hasOwnConnection(argument) {
  if (!argument || typeof argument !== 'object' || typeof argument.createConnection !== 'function') return false;
  return argument.agent === undefined || argument.agent === null;
}

function detour(create, proxy) {
  return function (options, callback) {
    if (typeof callback !== 'function' || !isDialled(options, proxy)) return create.apply(this, arguments);
    const outer = armed;
    const mine = { host: options.host || 'localhost', port: Number(options.port), placeholder: null, secure: null };
    let returned;
    armed = mine;
    try {
      returned = create.apply(this, arguments);
    } finally {
      armed = outer;
    }
    if (!mine.placeholder) return returned;
    if (returned !== mine.placeholder) {
      mine.placeholder.destroy(); // it does more than dial: leave it to itself
      return create.apply(this, arguments);
    }
    openTunnel(proxy, mine.host, mine.port, (error, socket) => {
      if (error) return callback(error);
      return callback(null, mine.secure ? secureConnect({ ...mine.secure, socket }) : socket);
    });
    return undefined;
  };
}

function leadDialling(module, names, secure) {
  const original = module[names[0]];
  const led = function (...args) {
    return (armed && standIn(args, secure)) || original.apply(this, args);
  };
  Object.defineProperties(led, { name: { value: original.name }, length: { value: original.length } });
  for (const name of names) module[name] = led;
}

/* An unconnected socket in place of the one that was asked for, where that is the running request's own. */
function standIn(args, secure) {
  const [options] = args;
  if (armed.placeholder || !options || typeof options !== 'object' || options.path || options.socket) return null;
  if ((options.host || 'localhost') !== armed.host || Number(options.port) !== armed.port) return null;
  armed.placeholder = new net.Socket();
  armed.secure = secure ? options : null;
  return armed.placeholder;
}

function install() {
  if (globalThis[MARK]) return;
  Object.defineProperty(globalThis, MARK, { value: true });
  const proxies = { http: proxyFor('http'), https: proxyFor('https') };
  for (const [module, scheme] of [[http, 'http'], [https, 'https']]) {
    if (!proxies[scheme]) continue;
    leadAgent(module.Agent, proxies[scheme], scheme === 'https');
    leadRequest(module, 'request', proxies[scheme]);
    leadRequest(module, 'get', proxies[scheme]);
  }
  if (proxies.http || proxies.https) {
    leadDialling(net, ['connect', 'createConnection'], false);
    leadDialling(tls, ['connect'], true);
    require('module').syncBuiltinESMExports();
    leadFetch(proxies);
  }
}

try {
  install();
} catch {
  // A program must run the same without this file.
}
