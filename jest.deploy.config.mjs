import shared from './jest.config.mjs';

/** The deploy test: real deployments to an AWS emulator on this machine, one after the other. */
export default {
  ...shared,
  testMatch: ['<rootDir>/test/deploy/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // An installation, a bundling and a deployment may each take their time on a slow machine.
  testTimeout: 240_000,
  maxWorkers: 1,
};
