import { globSync } from 'node:fs';
import shared, { fromRoot, proofFiles, sampledFiles, together } from './jest.config.mjs';
import { proofShare, takeShare } from './test/support/share.ts';

// `npm test` tries some cases of each of them every day.
const sampled = takeShare(globSync(sampledFiles).sort(), proofShare);

/** What shows that the tests would notice: broken relays, faults by the thousand, power cuts, stacks of many kinds. */
export default {
  ...shared,
  projects: [
    {
      ...together,
      setupFiles: [...together.setupFiles, '<rootDir>/test/support/all-runs.ts'],
      testMatch: [...proofFiles, ...sampled].map(fromRoot),
    },
  ],
};
