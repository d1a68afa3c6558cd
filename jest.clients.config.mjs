import shared from './jest.config.mjs';

/** Independent client libraries, written for the real exchange, against the paper exchange. */
export default {
  ...shared,
  testMatch: ['<rootDir>/test/clients/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/clients/install-clients.ts',
};
