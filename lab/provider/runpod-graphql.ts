import Router from '@koa/router';
import Joi from 'joi';
import type { Fleet } from './fleet.js';
import { readBody, refuseRequest } from './requests.js';
import { costUsdOf } from './runpod-routes.js';
import { isOfDialect } from './state.js';

interface GraphqlBody {
  query: string;
}

const bodySchema = Joi.object({ query: Joi.string().required(), variables: Joi.object() });

/** The only query that the service sends to RunPod's GraphQL API: the account, field by field. */
const MYSELF = /^\s*(?:query(?:\s+\w+)?\s*)?\{\s*myself\s*\{([\w\s]+)\}\s*\}\s*$/;

/** The part of RunPod's GraphQL API that the service uses. */
export function runpodGraphql(fleet: Fleet): Router {
  const router = new Router();
  router.post('/graphql', async (ctx) => {
    refuseRequest(ctx, fleet, 'balance');
    const { query } = await readBody<GraphqlBody>(ctx, bodySchema);
    const account: Readonly<Record<string, number>> = accountOf(fleet);
    const asked = MYSELF.exec(query)?.[1]?.trim().split(/\s+/) ?? [];
    if (asked.length === 0 || asked.some((field) => !(field in account))) {
      ctx.status = 400;
      ctx.body = { errors: [{ message: 'Cannot query this' }] };
      return;
    }
    ctx.body = { data: { myself: Object.fromEntries(asked.map((field) => [field, account[field]])) } };
  });
  return router;
}

function accountOf(fleet: Fleet): Record<'clientBalance' | 'currentSpendPerHr' | 'spendLimit', number> {
  const pods = fleet.list().filter((pod) => isOfDialect(pod, 'runpod'));
  return {
    clientBalance: fleet.settings.balanceCents / 100,
    currentSpendPerHr: pods.reduce((sum, pod) => sum + costUsdOf(pod, fleet.faults), 0),
    // The documented value for a new account.
    spendLimit: 80,
  };
}
