import { apart, run } from './jest.config.mjs';

/** Independent client libraries, written for the real exchange, against the paper exchange. */
export default {
  ...run,
  ...apart,
  testMatch: ['<rootDir>/test/clients/**/*.test.ts'],
  globalSetup: '<rootDir>/test/clients/install-clients.ts',
};
