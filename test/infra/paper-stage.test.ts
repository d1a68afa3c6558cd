import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkPaperUrl, exchangeOf, isPaperStage } from '../../lib/host/paper-stage.ts';
import { infraConfig, type SynthesizedTemplate, synthesize } from './synthesized.ts';

const notices = { channels: ['email'] as const };
const config = { ...infraConfig, notices: { channels: [...notices.channels] } };
const url = { 'Fn::GetAtt': ['RelayPaperExchangeFunctionFunctionUrl', 'FunctionUrl'] };

let paper: SynthesizedTemplate;
let prod: SynthesizedTemplate;
beforeAll(async () => {
  paper = await synthesize({ config, stage: 'paper' });
  prod = await synthesize({ config, stage: 'prod' });
});

function variablesOf({ resources }: SynthesizedTemplate): Record<string, Record<string, unknown>> {
  const functions = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
  return Object.fromEntries(
    functions.map(([id, { Properties }]) => [
      id,
      (Properties['Environment'] as { Variables: Record<string, unknown> }).Variables,
    ]),
  );
}

/**
 * The names that a template chooses itself; what has none gets one of CloudFormation's, which differ. A policy inside a role
 * is named within that role.
 */
function chosenNames({ resources }: SynthesizedTemplate): readonly string[] {
  return Object.values(resources).flatMap(({ Properties }) =>
    Object.entries(Properties ?? {})
      .filter(
        ([name, value]) =>
          /Name$/.test(name) &&
          !/^(Metric|Stage|Display|Policy)Name$/.test(name) &&
          typeof value === 'string',
      )
      .map(([, value]) => String(value)),
  );
}

describe('A paper stage', () => {
  test('gives the URL of its own paper exchange to every function that has a key, and to no other', () => {
    const variables = variablesOf(paper);

    expect(
      Object.entries(variables)
        .filter(([, { PAPER_EXCHANGE_URL }]) => PAPER_EXCHANGE_URL !== undefined)
        .map(([id, { PAPER_EXCHANGE_URL }]) => [id, PAPER_EXCHANGE_URL]),
    ).toEqual(
      Object.entries(variables)
        .filter(([id, { EXCHANGE_KEYS }]) => EXCHANGE_KEYS !== undefined && !id.includes('Paper'))
        .map(([id]) => [id, url]),
    );
  });

  test('makes keys of its own, which no operator has to type', () => {
    const secret = paper.resources['RelaySecretsExchangeKeymain']?.Properties;

    expect(secret).toMatchObject({
      Description: 'Paper key of account main',
      GenerateSecretString: {
        SecretStringTemplate: '{"apiKey":"paper-main"}',
        GenerateStringKey: 'apiSecret',
        PasswordLength: 32,
      },
    });
    expect(secret).not.toHaveProperty('SecretString');
  });

  test('keeps what it traded in a table, which goes with the stack', () => {
    expect(paper.resources['RelayPaperTable']).toMatchObject({
      Type: 'AWS::DynamoDB::GlobalTable',
      DeletionPolicy: 'Delete',
    });
  });

  test('says in description, output and warning that it is on paper', () => {
    expect(JSON.parse(paper.text).Description).toBe(
      'Trading relay ON PAPER, stage paper: it trades on an exchange of its own, with play money',
    );
    expect(paper.outputs['PaperExchange']).toEqual({
      Description: 'PAPER: URL of the paper exchange that this stack trades on',
      Value: url,
    });
    expect(paper.warnings.join()).toContain('No order reaches a real exchange');
  });

  test('takes no name that the stack of another stage takes', () => {
    expect(chosenNames(prod).length).toBeGreaterThan(0);
    expect(chosenNames(paper).filter((name) => chosenNames(prod).includes(name))).toEqual([]);
  });
});

test('Any other stage has nothing of a paper exchange', () => {
  expect(Object.keys(prod.resources).filter((id) => /Paper/.test(id))).toEqual([]);
  expect(prod.outputs).not.toHaveProperty('PaperExchange');
  expect(Object.values(variablesOf(prod)).flatMap(Object.keys)).not.toContain('PAPER_EXCHANGE_URL');
});

test.each([
  ['paper', true],
  ['paper-2', true],
  ['prod', false],
  ['newspaper', false],
  ['papers', false],
])('A stage named %s is on paper: %s', (stage, expected) => {
  expect(isPaperStage(stage)).toBe(expected);
});

const onPaper = { exchange: { address: 'paper', dialect: 'live' } } as const;

test.each([
  undefined,
  '',
  'https://whitebit.com',
  'https://whitebit.eu/',
  'https://lambda-url.on.aws.example',
])('A function of a paper stage starts with no exchange but its own: %s is refused', (address) => {
  expect(() => exchangeOf(onPaper, { PAPER_EXCHANGE_URL: address })).toThrow(
    expect.objectContaining({ code: 'config_invalid' }),
  );
});

test('A function of any other stage does not read the variable', () => {
  const exchange = { address: 'global', dialect: 'live' } as const;
  expect(exchangeOf({ exchange }, { PAPER_EXCHANGE_URL: 'https://x.lambda-url.eu-west-1.on.aws/' })).toEqual(
    exchange,
  );
  expect(checkPaperUrl('https://x.lambda-url.eu-west-1.on.aws/')).toBe(
    'https://x.lambda-url.eu-west-1.on.aws',
  );
});
