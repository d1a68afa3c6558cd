import { apart, run } from './jest.config.mjs';

/** The deploy test: real deployments to an AWS emulator on this machine. */
export default {
  ...run,
  ...apart,
  testMatch: ['<rootDir>/test/deploy/**/*.test.ts'],
  // An installation, a bundling and a deployment may each take their time on a slow machine.
  testTimeout: 240_000,
  // Most of the time is spent waiting for the emulators, of which each file has its own.
  maxWorkers: 2,
  globalSetup: '<rootDir>/test/deploy/install-tools.ts',
};
