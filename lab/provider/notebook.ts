import type { LabPod } from './state.js';

/** Jupyter's port on a machine. */
export const NOTEBOOK_PORT = 8888;

/** A notebook that a machine starts. */
export interface LabNotebook {
  readonly token: string;
  /** Whether the machine's own address has its port. A proxy reaches it at loopback. */
  readonly isPublic: boolean;
}

/** The ways in which machines are told to start one: by a container, and by a script. */
const SCRIPTS = [
  /^docker run .*-p (?<loopback>127\.0\.0\.1:)?8888:8888 .*-e '?JUPYTER_TOKEN=(?<token>\w+)'? .*quay\.io\/jupyter\//m,
  /^JUPYTER_TOKEN=(?<token>\w+) nohup jupyter lab (?<loopback>--ip=127\.0\.0\.1) --port=8888 /m,
];

/** Finds the notebook of a machine; undefined: it starts none. */
export function notebookOf({ os, envs, base64Script }: LabPod): LabNotebook | undefined {
  const password = envs.find(({ name }) => name === 'JUPYTER_PASSWORD')?.value;
  if (password && os.startsWith('runpod/pytorch:')) return { token: password, isPublic: false };
  const script = Buffer.from(base64Script ?? '', 'base64').toString('utf8');
  const { token, loopback } = SCRIPTS.map((way) => way.exec(script)?.groups).find(Boolean) ?? {};
  return token === undefined ? undefined : { token, isPublic: loopback === undefined };
}

/**
 * The program that stands in for Jupyter: its ways to sign in, with the answers of a real one, and a page. Its arguments:
 * host and port.
 */
export const notebookProgram = `#!${process.execPath}
const { createServer } = require('node:http');
const token = process.env.JUPYTER_TOKEN;
const [host, port] = process.argv.slice(2);
const xsrf = require('node:crypto').randomBytes(16).toString('hex');
const page = (title, body) =>
  '<!doctype html><html lang="en"><title>' + title + '</title>' +
  '<meta name="viewport" content="width=device-width"><style>body{font:16px system-ui;margin:3rem auto;max-width:40rem}</style>' +
  '<h1>' + title + '</h1>' + body;
const form = '<form method="post"><input type="hidden" name="_xsrf" value="' + xsrf + '"><label>Password or token: <input type="password" name="password" autofocus></label> <button>Log in</button></form>';
const lab = '<p>A notebook of the lab runs here.</p><pre>In [1]: import torch; torch.cuda.is_available()\\nOut[1]: True</pre>';
createServer((request, answer) => {
  const at = new URL(request.url, 'http://lab');
  const { cookie = '', authorization } = request.headers;
  const signedIn =
    cookie.includes('lab-notebook=' + token) ||
    ['token ' + token, 'Bearer ' + token].includes(authorization) ||
    at.searchParams.get('token') === token;
  const next = /^\\/(?!\\/)/.test(at.searchParams.get('next') || '') ? at.searchParams.get('next') : '/';
  const go = (to, headers) => answer.writeHead(302, { location: to, ...headers }).end();
  const show = (status, title, body, headers) =>
    answer.writeHead(status, { 'content-type': 'text/html', ...headers }).end(page(title, body));
  if (at.pathname === '/api') return answer.end('{"version":"2.21.1"}');
  if (at.pathname === '/') return go('/lab?');
  if (at.pathname === '/login' && request.method === 'POST') {
    let sent = '';
    request.on('data', (chunk) => (sent += chunk));
    request.on('end', () => {
      const fields = new URLSearchParams(sent);
      if (fields.get('_xsrf') !== xsrf || !cookie.includes('_xsrf=' + xsrf)) return show(403, 'Jupyter', '');
      if (fields.get('password') !== token) return show(401, 'Jupyter', '<p>Invalid credentials</p>' + form);
      go(next, { 'set-cookie': 'lab-notebook=' + token + '; HttpOnly; SameSite=Lax; Path=/' });
    });
    return;
  }
  if (at.pathname === '/login') {
    return signedIn ? go(next) : show(200, 'Jupyter', form, { 'set-cookie': '_xsrf=' + xsrf + '; Path=/' });
  }
  if (signedIn) return show(200, 'JupyterLab', lab);
  if (at.pathname.startsWith('/api/')) return answer.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}');
  go('/login?next=' + encodeURIComponent(request.url));
}).listen(Number(port), host);
`;
