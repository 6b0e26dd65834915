import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { findProof, linesOfProof } from '../../adapters/postgres/ledger/proof.js';
import { listRoots } from '../../adapters/postgres/ledger/roots.js';
import { Refusal } from '../../domain/refusal.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';
import type { Step } from '../http/middleware/session.js';
import { register, serve } from '../http/serve.js';
import { readQuery } from '../http/validation.js';
import * as declared from './describe-proof.js';

const ROOTS_PAGE = 100;
/** A root never changes, and a new one comes once a night. */
const ROOTS_KEPT_S = 300;
const RETRY_AFTER_S = 3_600;

/** The proof of a month's ledger, and the roots of all (decision 140, "Proof of the ledger"). */
export function proofRoutes(router: ApiRouter, deps: ApiDeps): void {
  register(router, deps, declared.downloadProof, sendProof(deps));
  serve(router, deps, declared.listRoots, async (ctx) => {
    const { after = 0 } = readQuery(ctx, declared.rootsQuery);
    ctx.set('Cache-Control', `public, max-age=${ROOTS_KEPT_S}`);
    const roots = await listRoots(deps.db, after, ROOTS_PAGE);
    return { roots: roots.map((root) => ({ ...root, signedAt: root.signedAt?.toISOString() ?? null })) };
  });
}

function sendProof({ db, settings }: ApiDeps): Step {
  // All files that are under way take no more connections than one caller.
  const atOnce = pLimit(settings.requestsAtOnce);
  return async (ctx) => {
    const { month } = readQuery(ctx, declared.proofQuery);
    const proof = await findProof(db, callerOf(ctx).userId, month);
    if (!proof) throw proofNotReady();
    const name = month.from.toISOString().slice(0, 7);
    ctx.type = 'text/plain; charset=utf-8';
    ctx.attachment(`proof-${name}.txt`);
    ctx.body = Readable.from(
      linesOfProof(db, proof, name, (read) => atOnce(() => (ctx.res.closed ? '' : read()))),
    );
  };
}

/** The refusal of a month that no root covers yet. */
export function proofNotReady(): Refusal {
  return new Refusal(
    'proof_not_ready',
    'This month has no proof yet. Where the service proves its ledger, it comes in the night after the month’s end.',
    { retryAfterSeconds: RETRY_AFTER_S },
  );
}
