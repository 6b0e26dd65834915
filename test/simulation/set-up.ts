import { prepareDatabase } from './database.js';
import { Chance } from './kernel/chance.js';
import { installChance } from './kernel/fake-chance.js';
import { installTime } from './kernel/fake-time.js';
import { Kernel } from './kernel/kernel.js';
import { Statements } from './kernel/statements.js';
import { Trace } from './kernel/trace.js';
import { watchStates } from './reach/states.js';
import { Service, webhookSecret } from './service.js';
import { SimulatedServer } from './temporal/server.js';
import type { Habits } from './world/dialects.js';
import { World } from './world/world.js';

/** Without any counted hour the service counts the last thirty days anew, minute by minute. */
const oneCountedHour = `insert into reliability_hours
  (provider_code, family, hour, created, not_created, ready_seconds, ssh_seconds, losses, machine_ms)
  values ('north', 'rtx-4090', date_trunc('hour', $1::timestamptz), 0, 0, '{}', '{}', 0, 0)`;

interface Databases {
  /** A migrated database of this run's own. */
  readonly databaseUrl: string;
  /** The same database as its server's administrator sees it. */
  readonly controlUrl: string;
}

/**
 * Starts a service of a seed and the world around it in this process, whose time and chance are the simulation's from now
 * on. It has run for a minute.
 * @param habits of the two upstreams; absent: as the seed draws them
 */
export async function setUp(
  options: Databases & { readonly seed: number; readonly traceFile: string | undefined },
  startMs: number,
  habits?: readonly [Habits, Habits],
) {
  const chance = (name: string): Chance => new Chance(options.seed, name);
  const trace = new Trace(options.traceFile, startMs);
  const kernel = new Kernel(chance('order'), trace, startMs);
  const { control, setClock } = await prepareDatabase(options.controlUrl);
  const statements = new Statements(kernel, control, setClock);
  await watchStates((sql, values) => statements.ask(sql, values));
  installTime(kernel);
  installChance(chance('crypto'));
  statements.install();
  const workflows = (await import('../../workflows/index.js')) as unknown as ConstructorParameters<
    typeof SimulatedServer
  >[2];
  const server = new SimulatedServer(kernel, chance('server'), workflows);
  const world = new World(kernel, chance('world'), webhookSecret, habits);
  const service = new Service({
    ...{ kernel, chance: chance('service'), statements, server, world, databaseUrl: options.databaseUrl },
  });
  world.post = (body, signature) => postOf(service, body, signature);
  service.start();
  await kernel.run(startMs + 20_000);
  await statements.ask(oneCountedHour, [new Date(startMs)]);
  await kernel.run(startMs + 60_000);
  return { trace, kernel, statements, server, world, service, workflows };
}

async function postOf(service: Service, body: string, signature: string): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    const path = '/v1/billing/processor/webhook';
    const { status } = await service.request({ method: 'POST', path, headers, body });
    return status === 200;
  } catch {
    return false;
  }
}
