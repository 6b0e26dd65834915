import { softwareLimits, type SoftwareCapabilities } from '../../../domain/rentals/software.js';
import { containerTemplates } from '../offers/templates.js';

/**
 * What a machine can do with own software: it runs a script after its boot, of up to 1 MB. The account's firewall closes all
 * its ports but that of SSH.
 */
export const lambdaSoftware: SoftwareCapabilities = {
  image: 'none',
  registryAuth: false,
  startScript: true,
  argsMaxChars: 0,
  envTemplates: containerTemplates,
  envValueMaxChars: softwareLimits.envValueMaxChars,
  envMaxChars: softwareLimits.envMaxChars,
  httpPorts: 0,
  tcpPorts: 0,
  keepsClosed: true,
  diskMaxGb: 0,
};
