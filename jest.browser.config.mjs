import { apart, run } from './jest.config.mjs';

/** The page in a real browser, on a real local relay. */
export default {
  ...run,
  ...apart,
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  // A browser takes as much of the machine as it gets.
  maxWorkers: 1,
  globalSetup: '<rootDir>/test/browser/install-browser.ts',
};
