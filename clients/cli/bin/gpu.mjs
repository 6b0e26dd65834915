#!/usr/bin/env node
// A checkout has no build step: the sources are TypeScript, which tsx loads.
import { register } from 'tsx/esm/api';

register({ tsconfig: false });
await import('../src/main.ts');
