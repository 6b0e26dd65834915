import {
  softwareLimits,
  type Software,
  type SoftwareCapabilities,
} from '../../../domain/rentals/software.js';
import { containerTemplates, type TemplateContainer } from '../offers/templates.js';
import { ownContainerOf } from '../startup-script.js';

/**
 * What a machine can do with own software: it runs a script after its boot, and images in its container runtime. All its
 * ports are at its own address, closed by its firewall or bound to loopback. Shadeform tells a disk's size and sells no
 * other.
 */
export const shadeformSoftware: SoftwareCapabilities = {
  image: 'container',
  entrypoint: true,
  registryAuth: true,
  startScript: true,
  argsMaxChars: softwareLimits.args * softwareLimits.argMaxChars,
  envTemplates: containerTemplates,
  envValueMaxChars: softwareLimits.envValueMaxChars,
  envMaxChars: softwareLimits.envMaxChars,
  httpPorts: softwareLimits.ports,
  tcpPorts: softwareLimits.ports,
  keepsClosed: true,
  diskMaxGb: 0,
};

/** It tells no limit of a script; many of the clouds behind it take 16 KiB, in which ours and the renter's keys are too. */
export const SHADEFORM_HANDS_OVER_BYTES = 8 * 1_024;

/** The container that a machine starts: that of the renter's image, or the template's with what they add to it. */
export function containerOf(
  template: TemplateContainer | null,
  software: Software | undefined,
): TemplateContainer | null {
  if (software === undefined) return template;
  const { image, env, ports } = software;
  if (image !== null) return ownContainerOf(software);
  if (template === null) return null;
  const others = template.ports.filter(({ port }) => ports.every((own) => own.port !== port));
  return { ...template, env: { ...template.env, ...env }, ports: [...ports, ...others] };
}
