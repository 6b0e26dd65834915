import type { ObjectSchema } from 'joi';
import type { Context } from 'koa';
import readRawBody from 'raw-body';
import type { Fleet } from './fleet.js';
import { isOfDialect, type LabDialect, type LabPod } from './state.js';

const MAX_BODY = '256kb';

/**
 * Reads a JSON body and checks it; an empty one counts as `{}`. Answers 400 naming what is wrong.
 * @param misfit the status for JSON that does not fit the schema
 */
export async function readBody<T>(ctx: Context, schema: ObjectSchema, misfit: 400 | 422 = 400): Promise<T> {
  const text = await readRawBody(ctx.req, { encoding: 'utf8', limit: MAX_BODY });
  let parsed: unknown;
  try {
    parsed = text === '' ? {} : JSON.parse(text);
  } catch {
    ctx.throw(400, 'the body is not JSON');
  }
  const { error, value } = schema.validate(parsed) as { error?: Error; value: T };
  if (error !== undefined) ctx.throw(misfit, error.message);
  return value;
}

/**
 * The pod with this id; answers 404 when it is not there or gone.
 * @param dialect the API that is asked: another's pods are not there; every pod for the lab's own endpoints
 */
export function getPod(ctx: Context, fleet: Fleet, id: string | undefined, dialect?: LabDialect): LabPod {
  const pod = fleet.find(id ?? '');
  if (pod === undefined || (dialect !== undefined && !isOfDialect(pod, dialect))) {
    ctx.throw(404, 'instance not found');
  }
  return pod;
}
