import helmet from 'koa-helmet';
import type { Middleware } from 'koa';
import type { ApiState } from '../../context.js';

/**
 * What browsers may do with an answer: nothing but read it. Answers are data, so no page of another origin frames
 * them, nothing in them is run, and no address of ours is told to other sites. A route that answers a page sets a
 * policy of its own.
 * @param overTls whether the service is reached by TLS only, as its cookie is: then browsers are told to stay with it
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
