import { bundleWorkflows } from './bundle.js';

/** A part of `npm run build`: leaves the bundle of the workflows beside the build, for the worker's starts. */
await bundleWorkflows();
