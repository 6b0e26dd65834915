import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { ApiContext } from '../context.js';

/** The content codings that are made, the better first: it is taken where a request wants both the same. */
const CODINGS = ['br', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

/** Quality 9 of brotli makes Swagger UI 9 % larger than 11 does, and takes a tenth of its time. */
const BROTLI_QUALITY = 9;

/** Less does not fill a packet. */
const SMALLEST_BYTES = 1_024;

interface Variant {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** One text or file in each content coding that makes it smaller. */
type Variants = Readonly<{ identity: Variant } & Partial<Record<Coding, Variant>>>;

export interface Precompressed {
  readonly type: string;
  readonly cacheControl: string;
  readonly make: () => Promise<Buffer> | Buffer;
  /** The same in a content coding, where that was made before; the others are made here. */
  readonly coded?: Readonly<Partial<Record<Coding, Buffer>>>;
}

/**
 * Answers a request by what never changes while the process lives. It is made and compressed at its first request, on
 * the thread pool, and once. Each coding has its own strong ETag, since its bytes differ; a request that knows it gets 304.
 * @returns a function that sets the answer of a request
 */
export function precompressed(content: Precompressed): (ctx: ApiContext) => Promise<void> {
  let made: Promise<Variants> | undefined;
  const variants = async (): Promise<Variants> => {
    made ??= Promise.resolve(content.make()).then((bytes) => variantsOf(bytes, content.coded ?? {}));
    try {
      return await made;
    } catch (error) {
      // The next request tries again.
      made = undefined;
      throw error;
    }
  };
  return async (ctx) => {
    const all = await variants();
    const coding = codingOf(ctx, all);
    const { bytes, etag } = all[coding] ?? all.identity;
    ctx.type = content.type;
    ctx.vary('Accept-Encoding');
    ctx.set('Cache-Control', content.cacheControl);
    ctx.etag = etag;
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    if (coding !== 'identity') ctx.set('Content-Encoding', coding);
    ctx.body = bytes;
  };
}

/** The coding that a request wants most. One that wants none at all, not even the plain bytes, gets those. */
function codingOf(ctx: ApiContext, all: Variants): Coding | 'identity' {
  const available = CODINGS.filter((coding) => all[coding] !== undefined);
  const wanted = new Negotiator(ctx.req).encoding([...available, 'identity'], { preferred: CODINGS });
  return available.find((coding) => coding === wanted) ?? 'identity';
}

async function variantsOf(bytes: Buffer, coded: NonNullable<Precompressed['coded']>): Promise<Variants> {
  const name = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const identity = { bytes, etag: `"${name}"` };
  if (bytes.length < SMALLEST_BYTES) return { identity };
  const [br, zipped] = await Promise.all([
    coded.br ??
      promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    coded.gzip ?? promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return {
    identity,
    ...(br.length < bytes.length && { br: { bytes: br, etag: `"${name}-br"` } }),
    ...(zipped.length < bytes.length && { gzip: { bytes: zipped, etag: `"${name}-gzip"` } }),
  };
}
