import type { SoftwareCapabilities } from '../../../domain/rentals/software.js';

/**
 * What a container can do with own software: it runs a script at each start, of which ours sees to it that the renter's
 * runs once. Vast's entrypoint replaces that of an image, and opens the ports that the image exposes. Script, variables and
 * keys share 4,096 characters.
 */
export const vastSoftware: SoftwareCapabilities = {
  image: 'none',
  registryAuth: false,
  startScript: true,
  scriptMaxBytes: 1_024,
  argsMaxChars: 0,
  envValueMaxChars: 512,
  envMaxChars: 512,
  // What our own lines, a notebook's and the longest script leave. Variables leave less where machines fetch nothing.
  keysMaxChars: { alone: 3_700, besideScript: 2_200 },
  httpPorts: 0,
  tcpPorts: 0,
  keepsClosed: false,
  diskMaxGb: 0,
};
