import { templates, type TemplateId } from '../../../domain/catalog/templates.js';
import { notebookPort } from '../../../domain/rentals/notebook.js';
import { ownSoftwareId, type SoftwarePort } from '../../../domain/rentals/software.js';
import type { StartId } from '../provider.js';

/** A container that is started on the pod once it is up. */
export interface TemplateContainer {
  readonly image: string;
  /**
   * Its ports. Templates' are bound to the pod's loopback only: these servers ask for no password, so a renter, and
   * nobody else, reaches them through the SSH tunnel.
   */
  readonly ports: readonly Pick<SoftwarePort, 'port' | 'public'>[];
  readonly command: readonly string[];
  /** Takes the place of the image's own. */
  readonly entrypoint?: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface PodTemplate {
  /** Prefixes of the operating system names that fit, best first. An offer that lists none of them can't start it. */
  readonly osPreference: readonly string[];
  readonly container: TemplateContainer | null;
}

const closed = (port: number) => ({ port, public: false });

/** It makes no difference to a container; the plain template is named for its system. */
const OS = ['ubuntu24.04', 'ubuntu22.04'];
const PLAIN_OS = ['ubuntu24.04'];

/**
 * Maps each template to a Shadeform machine (decision 13, "Live listings"): an operating system, and for all but the
 * plain template a container, because Shadeform's machines come with a container runtime and the NVIDIA toolkit.
 */
export const shadeformTemplates: Readonly<Record<TemplateId, PodTemplate>> = {
  'ubuntu-24-04': { osPreference: PLAIN_OS, container: null },
  pytorch: {
    osPreference: OS,
    container: { image: 'pytorch/pytorch:latest', ports: [], command: ['sleep', 'infinity'], env: {} },
  },
  jupyter: {
    osPreference: OS,
    container: {
      image: 'quay.io/jupyter/pytorch-notebook:cuda12-latest',
      ports: [closed(notebookPort.port)],
      command: [],
      env: {},
    },
  },
  vllm: {
    osPreference: OS,
    container: { image: 'vllm/vllm-openai:latest', ports: [closed(8000)], command: [], env: {} },
  },
  ollama: {
    osPreference: OS,
    container: { image: 'ollama/ollama:latest', ports: [closed(11_434)], command: [], env: {} },
  },
  a1111: {
    osPreference: OS,
    container: {
      image: 'universonic/stable-diffusion-webui:latest',
      ports: [closed(8080)],
      command: [],
      env: {},
    },
  },
  'text-generation-webui': {
    osPreference: OS,
    container: {
      image: 'atinoda/text-generation-webui:default',
      ports: [closed(7860)],
      command: [],
      env: { EXTRA_LAUNCH_ARGS: '--listen' },
    },
  },
};

/** The templates that are a container. */
export const containerTemplates: readonly TemplateId[] = templates
  .map(({ id }) => id)
  .filter((id) => shadeformTemplates[id].container !== null);

/** A template's container with its notebook behind a token. @param token undefined: it has no notebook */
export function withToken(
  container: TemplateContainer | null,
  token: string | undefined,
): TemplateContainer | null {
  if (container === null || token === undefined) return container;
  return { ...container, env: { ...container.env, JUPYTER_TOKEN: token } };
}

/** What starts an image of the renter's own; its container is the request's. */
export const shadeformOwnSoftware: PodTemplate = { osPreference: OS, container: null };

/** The kinds that have a container runtime of their own; a container has none. */
const DOCKER_KINDS: readonly (string | null)[] = ['vm', 'baremetal'];

/**
 * Returns the operating system to ask for; undefined when the offer lists none that fits, so that no other is sold in
 * its place.
 */
export function findFittingOs(template: PodTemplate, osOptions: readonly string[]): string | undefined {
  const fitting = template.osPreference.map((start) => osOptions.find((option) => option.startsWith(start)));
  return fitting.find((os) => os !== undefined);
}

/**
 * Lists what an offer can start.
 * @param kind Shadeform's `deployment_type`: vm, container or baremetal
 */
export function listFitting(osOptions: readonly string[], kind: string | null): StartId[] {
  const runsDocker = DOCKER_KINDS.includes(kind);
  const fits = (template: PodTemplate) => findFittingOs(template, osOptions) !== undefined;
  const fitting: StartId[] = templates
    .map(({ id }) => id)
    .filter((id) => shadeformTemplates[id].container === null || runsDocker)
    .filter((id) => fits(shadeformTemplates[id]));
  return runsDocker && fits(shadeformOwnSoftware) ? [...fitting, ownSoftwareId] : fitting;
}
