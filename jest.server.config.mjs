import { apart, run } from './jest.config.mjs';

/** The server test: the relay behind Caddy, its unit of systemd, and its image. */
export default {
  ...run,
  ...apart,
  testMatch: ['<rootDir>/test/server/**/*.test.ts'],
  maxWorkers: 1,
  globalSetup: '<rootDir>/test/server/require-tools.ts',
};
