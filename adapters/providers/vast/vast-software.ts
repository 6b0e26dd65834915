import type { SoftwareCapabilities } from '../../../domain/rentals/software.js';

/**
 * What a container can do with own software: it runs a script at each start, of which ours sees to it that the renter's
 * runs once, and at each start in an image of theirs. Vast's entrypoint replaces that of an image, which therefore runs only
 * with another one, and opens the ports that the image exposes. Script, variables and keys share 4,096 characters.
 */
export const vastSoftware: SoftwareCapabilities = {
  image: 'machine',
  entrypoint: 'replaced',
  registryAuth: false,
  startScript: true,
  scriptMaxBytes: 1_024,
  argsMaxChars: 0,
  envValueMaxChars: 512,
  envMaxChars: 512,
  httpPorts: 0,
  tcpPorts: 0,
  keepsClosed: false,
  diskMaxGb: 0,
};
