import { describe, expect, test } from '@jest/globals';
import { CfnResource } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { synthesize } from './synthesized.ts';

describe('The checks of a synthesis', () => {
  test('find only what is acknowledged with a reason', () => {
    expect(() => synthesize()).not.toThrow();
  });

  test('cover all resources: both rule packs find a careless queue', () => {
    const addQueue = () => synthesize({ change: (stack) => new Queue(stack, 'Careless') });

    expect(addQueue).toThrow('AwsSolutions-SQS4');
    expect(addQueue).toThrow('Serverless-SQSRedrivePolicy');
  });

  test('compare properties with the limits of the service, without calling it', () => {
    const addQueue = () =>
      synthesize({
        change: (stack) =>
          new CfnResource(stack, 'Patient', { type: 'AWS::SQS::Queue', properties: { DelaySeconds: 901 } }),
      });

    expect(addQueue).toThrow('DelaySeconds');
  });
});
