import { writeSync } from 'node:fs';

/** Of a whole process. */
export interface Usage {
  /** User and system time. */
  readonly cpuMicros: number;
  /** The most it ever held. */
  readonly memoryKb: number;
}

/** Loaded ahead of a measured program: tells what it took as it ends. */
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage: Usage = { cpuMicros: userCPUTime + systemCPUTime, memoryKb: maxRSS };
  writeSync(3, JSON.stringify(usage));
});
