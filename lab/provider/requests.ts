import type { ObjectSchema } from 'joi';
import type { Context } from 'koa';
import readRawBody from 'raw-body';
import type { Fleet } from './fleet.js';
import type { LabPod } from './state.js';

const MAX_BODY = '256kb';

/** Reads a JSON body and checks it; an empty one counts as `{}`. Answers 400 naming what is wrong. */
export async function readBody<T>(ctx: Context, schema: ObjectSchema): Promise<T> {
  const text = await readRawBody(ctx.req, { encoding: 'utf8', limit: MAX_BODY });
  let parsed: unknown;
  try {
    parsed = text === '' ? {} : JSON.parse(text);
  } catch {
    ctx.throw(400, 'the body is not JSON');
  }
  const { error, value } = schema.validate(parsed) as { error?: Error; value: T };
  if (error !== undefined) ctx.throw(400, error.message);
  return value;
}

/** The pod with this id; answers 404 when it is not there or gone. */
export function getPod(ctx: Context, fleet: Fleet, id: string | undefined): LabPod {
  return fleet.find(id ?? '') ?? ctx.throw(404, 'instance not found');
}
