import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { endpointsOf } from '../../domain/rentals/endpoints.js';
import {
  imageNeeds,
  imageNeedsOf,
  publicPortsOf,
  type SoftwareOutline,
} from '../../domain/rentals/software.js';
import { entrypointChoices } from '../../domain/rentals/start-command.js';
import {
  bool,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  whole,
  type ValueOf,
} from '../http/openapi/json-schema.js';

/** Own software as answers show it: without anything secret. */
export const software = named(
  'OwnSoftware',
  object({
    image: orNull(text, 'Null: the template.'),
    entrypoint: named('EntrypointChoice', {
      ...oneOf(entrypointChoices),
      description: 'Whether the image’s entrypoint is kept, or your script or arguments run in its place.',
    }),
    envNames: listOf(text),
    hasArgs: bool,
    hasStartScript: bool,
    hasRegistryAuth: bool,
    diskGb: orNull(whole, 'Null: the provider’s default.'),
  }),
);

const portNumber = { ...whole, minimum: 1, maximum: 65_535 };

/** Decision 156, "Open ports". */
export const endpoint = named(
  'Endpoint',
  object({
    name: text,
    kind: named('EndpointKind', oneOf(['http', 'tcp'])),
    machinePort: { ...portNumber, description: 'On the machine: where a tunnel leads.' },
    public: { ...bool, description: 'Everybody on the internet can reach it.' },
    url: orNull(text, 'Of a public http port, once it is open.'),
    host: orNull(text, 'Of a public tcp port, once it is open.'),
    port: orNull(portNumber, 'Of a public tcp port, once it is open.'),
    tls: { ...bool, description: 'Whether the connection to it is encrypted.' },
    auth: named('EndpointAuth', {
      ...oneOf(['none', 'token']),
      description:
        'With `token` it asks for the token that GET /v1/rentals/{id}/endpoints/{name}/token tells; with `none`, for whatever your software asks for.',
    }),
    changesOnRestart: { ...bool, description: 'Whether its address is another one after a restart.' },
  }),
);

/** What a quote says of own software. */
export const quotedSoftware = named(
  'QuotedSoftware',
  object({
    graceSeconds: {
      ...whole,
      description:
        'You are billed from the first of: SSH answers, a public port answers, this long after the machine runs.',
    },
    publicPorts: { ...listOf(text), description: 'The ports that everybody on the internet will reach.' },
    imageNeeds: {
      ...listOf(named('ImageNeed', oneOf(imageNeeds))),
      description:
        'What must be in your image, so that your script can run in place of its entrypoint. An image without it never answers, and is billed.',
    },
  }),
);

type ShownSoftware = ValueOf<typeof software>;

export function presentSoftware(outline: SoftwareOutline | null): ShownSoftware | null {
  if (outline === null) return null;
  const { image, entrypoint = 'keep', envNames, argsChars, scriptBytes, hasRegistryAuth, diskGb } = outline;
  return {
    ...{ image, entrypoint, envNames: [...envNames], hasRegistryAuth, diskGb },
    hasArgs: argsChars > 0,
    hasStartScript: scriptBytes > 0,
  };
}

/** The endpoints of a rental; before its machine runs and after its end they have no address. */
export function presentEndpoints(row: RentalWithHealth) {
  const { template_id: templateId, software: outline, status, pod_host, pod_ports } = row;
  return endpointsOf(
    templateId,
    outline,
    status === 'running' ? { host: pod_host, ports: pod_ports } : nowhere,
  );
}

const nowhere = { host: null, ports: [] };

export function presentQuotedSoftware(outline: SoftwareOutline | undefined, graceSeconds: number) {
  if (!outline) return null;
  return {
    ...{ graceSeconds, publicPorts: publicPortsOf(outline), imageNeeds: [...imageNeedsOf(outline)] },
  };
}

export const exampleEndpoint: ValueOf<typeof endpoint> = {
  ...{ name: 'page', machinePort: 8080, public: true },
  kind: 'http',
  url: 'https://p7x2k9-8080.proxy.example.net/',
  ...{ host: null, port: null, tls: true, auth: 'none', changesOnRestart: false },
};

export const exampleSoftware: ShownSoftware = {
  ...{
    image: 'ghcr.io/ada/server:1',
    entrypoint: 'keep',
    envNames: ['MODEL'],
    hasArgs: true,
    hasStartScript: false,
  },
  ...{ hasRegistryAuth: false, diskGb: 120 },
};

export const exampleQuotedSoftware: ValueOf<typeof quotedSoftware> = {
  ...{ graceSeconds: 120, publicPorts: ['page'], imageNeeds: [] },
};
