import helmet from 'koa-helmet';
import type { Middleware } from 'koa';
import type { ApiState } from '../../context.js';

/**
 * Allows browsers to read an answer and nothing else. Answers are data: no page of another origin frames them, nothing
 * in them is run, and other sites learn no address of ours. A route that answers a page sets its own policy.
 * @param overTls whether clients reach the service by TLS only, as its cookie is: then browsers are told to stay with
 *   it
 */
export function securityHeaders(overTls: boolean): Middleware<ApiState, object> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: overTls ? { maxAge: 31_536_000, includeSubDomains: false } : false,
  }) as Middleware<ApiState, object>;
}
