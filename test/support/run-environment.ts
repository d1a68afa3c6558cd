const synthesizerName = 'RELAY_TEST_SYNTHESIZER';

/** Tells the test files of a run where its synthesizer listens. */
export function nameSynthesizer(url: string): void {
  process.env[synthesizerName] = url;
}

/** @throws Error outside a run of the tests */
export function readSynthesizerUrl(): string {
  const url = process.env[synthesizerName];
  if (url === undefined) throw new Error('no synthesizer runs: jest starts it with test/support/open-run.ts');
  return url;
}
