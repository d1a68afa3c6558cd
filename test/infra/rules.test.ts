import { describe, expect, test } from '@jest/globals';
import { synthesize } from './synthesized.ts';

describe('The checks of a synthesis', () => {
  test('find only what is acknowledged with a reason', async () => {
    await expect(synthesize()).resolves.toBeDefined();
  });

  test('cover all resources: both rule packs find a careless queue', async () => {
    const synthesis = synthesize({ addition: 'carelessQueue' });

    await expect(synthesis).rejects.toThrow('AwsSolutions-SQS4');
    await expect(synthesis).rejects.toThrow('Serverless-SQSRedrivePolicy');
  });

  test('compare properties with the limits of the service, without calling it', async () => {
    await expect(synthesize({ addition: 'patientQueue' })).rejects.toThrow('DelaySeconds');
  });
});
