import shared, { fromRoot, proofFiles, sampledFiles, together } from './jest.config.mjs';

/** What shows that the tests would notice: broken relays, faults by the thousand, power cuts, stacks of many kinds. */
export default {
  ...shared,
  projects: [
    {
      ...together,
      setupFiles: [...together.setupFiles, '<rootDir>/test/support/all-runs.ts'],
      testMatch: [...proofFiles, ...sampledFiles].map(fromRoot),
    },
  ],
};
