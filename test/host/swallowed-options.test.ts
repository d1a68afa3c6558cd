import { describe, expect, test } from '@jest/globals';
import { findSwallowedOptions, type KnownOption } from '../../lib/host/swallowed-options.ts';

const known: readonly KnownOption[] = [
  { flags: '--stack <name>', long: '--stack', required: true },
  { flags: '--paper-port <number>', long: '--paper-port', required: true },
  { flags: '--reason <text>', long: '--reason', required: true },
  { flags: '--cancel', long: '--cancel', required: false },
  { flags: '--json', long: '--json', required: false },
];

function find(environment: Readonly<Record<string, string>>, ...given: readonly string[]) {
  return findSwallowedOptions({ npm_lifecycle_event: 'relay', ...environment }, 'relay', known, given);
}

describe('options that npm took for itself', () => {
  test.each([
    ['a value after =', { npm_config_stack: 'prod' }, ['pause'], '--stack prod', 'pause --stack prod'],
    ['no value', { npm_config_json: 'true' }, ['signals'], '--json', 'signals --json'],
    ['an empty value', { npm_config_stack: '' }, ['pause'], '--stack=', 'pause --stack='],
    ['two words', { npm_config_paper_port: '0' }, [], '--paper-port 0', '--paper-port 0'],
    [
      'words that a shell would split',
      { npm_config_reason: "it's noon" },
      ['pause', 'my account'],
      "--reason 'it'\\''s noon'",
      "pause 'my account' --reason 'it'\\''s noon'",
    ],
    [
      'an argument that npm took for its value',
      { npm_config_cancel: 'breakout-1' },
      ['resolve'],
      '--cancel breakout-1',
      'resolve --cancel breakout-1',
    ],
    [
      'a value that npm left among the arguments',
      { npm_config_stack: 'true', npm_config_json: 'true' },
      ['prod', 'pause'],
      '--stack <name> --json',
      '… --stack <name> --json',
    ],
  ] as const)('are found, with the correct command: %s', (_, environment, given, options, rightArguments) => {
    expect(find(environment, ...given)).toEqual({ options, rightArguments });
  });

  test('are found when npx took them', () => {
    expect(find({ npm_lifecycle_event: 'npx', npm_config_stack: 'prod' }, 'pause')).not.toBeNull();
  });

  test.each([
    ['npm sets of itself', { npm_config_user_agent: 'npm/11', npm_config_cache: '/tmp' }],
    ['another script was given', { npm_lifecycle_event: 'test', npm_config_json: 'true' }],
  ])('are not reported for options that %s', (_, environment) => {
    expect(find(environment, 'pause')).toBeNull();
  });
});
