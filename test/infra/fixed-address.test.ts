import { describe, expect, test } from '@jest/globals';
import type { RelayConfig } from '../../lib/host/config.ts';
import { readProjectFile } from '../support/project-files.ts';
import { fixedAddressCost } from './cost.ts';
import { infraConfig, synthesize } from './synthesized.ts';

const config: RelayConfig = { ...infraConfig, aws: { ...infraConfig.aws, fixedAddress: true } };
const usual = await synthesize();
const fixed = await synthesize({ config });
const functions = ['Execute', 'Reconcile', 'SnapshotsBalances', 'SnapshotsFees', 'SnapshotsInterest'];
const only = (type: string) => {
  const found = Object.entries(fixed.resources).filter(([, { Type }]) => Type === type);
  expect(found).toHaveLength(1);
  return found[0]?.[1].Properties;
};
const statementsOf = (id: string) => {
  const policy = fixed.resources[id]?.Properties as
    | {
        readonly PolicyDocument: { readonly Statement: readonly unknown[] };
        readonly Roles: readonly unknown[];
      }
    | undefined;
  return { statements: policy?.PolicyDocument.Statement, roles: policy?.Roles };
};

describe('A fixed address', () => {
  test('is made only where the configuration says so', () => {
    const ofNetwork = Object.values(usual.resources).filter(
      ({ Type, Properties }) => Type.startsWith('AWS::EC2::') || 'VpcConfig' in (Properties ?? {}),
    );

    expect(ofNetwork).toEqual([]);
    expect(Object.keys(usual.outputs)).not.toContain('FixedAddress');
  });

  test('changes nothing else of the stack', () => {
    const withoutNetwork = Object.entries(fixed.resources)
      .filter(([id, { Type }]) => !Type.startsWith('AWS::EC2::') && !/Network(OfLambdaAlone)?$/.test(id))
      .map(([id, { Type, Properties }]) => {
        const { VpcConfig: _vpc, ...others } = Properties ?? {};
        return [id, { Type, Properties: others }];
      });

    expect(Object.fromEntries(withoutNetwork)).toEqual(
      Object.fromEntries(
        Object.entries(usual.resources).map(([id, { Type, Properties }]) => [
          id,
          { Type, Properties: { ...Properties } },
        ]),
      ),
    );
  });

  test('is that of the one gateway through which everything goes out that asks the exchange', () => {
    const subnet = 'RelayFixedAddressNetworkFunctionsSubnet1Subnet';
    const inNetwork = Object.entries(fixed.resources)
      .filter(([, { Properties }]) => 'VpcConfig' in (Properties ?? {}))
      .map(([id, { Properties }]) => [id, Properties['VpcConfig']]);

    expect(inNetwork).toEqual(
      functions.map((name) => [
        `Relay${name}Function`,
        {
          SecurityGroupIds: [{ 'Fn::GetAtt': ['RelayFixedAddressFunctions', 'GroupId'] }],
          SubnetIds: [{ Ref: subnet }],
        },
      ]),
    );
    expect(only('AWS::EC2::NatGateway')).toMatchObject({
      AllocationId: { 'Fn::GetAtt': ['RelayFixedAddress', 'AllocationId'] },
      SubnetId: { Ref: 'RelayFixedAddressNetworkPublicSubnet1Subnet' },
    });
    expect(fixed.resources['RelayFixedAddressNetworkFunctionsSubnet1DefaultRoute']?.Properties).toMatchObject(
      {
        DestinationCidrBlock: '0.0.0.0/0',
        NatGatewayId: { Ref: 'RelayFixedAddressNetworkPublicSubnet1NATGateway' },
      },
    );
    expect(fixed.outputs['FixedAddress']).toMatchObject({
      Value: { 'Fn::GetAtt': ['RelayFixedAddress', 'PublicIp'] },
    });
  });

  test('lets HTTPS out and nothing in, and the ledger past the gateway', () => {
    expect(only('AWS::EC2::SecurityGroup')).toMatchObject({
      SecurityGroupEgress: [{ CidrIp: '0.0.0.0/0', FromPort: 443, ToPort: 443, IpProtocol: 'tcp' }],
    });
    expect(only('AWS::EC2::SecurityGroup')).not.toHaveProperty('SecurityGroupIngress');
    expect(only('AWS::EC2::VPCEndpoint')).toMatchObject({
      VpcEndpointType: 'Gateway',
      ServiceName: { 'Fn::Join': ['', ['com.amazonaws.', { Ref: 'AWS::Region' }, '.dynamodb']] },
      RouteTableIds: [
        { Ref: 'RelayFixedAddressNetworkFunctionsSubnet1RouteTable' },
        { Ref: 'RelayFixedAddressNetworkPublicSubnet1RouteTable' },
      ],
    });
  });

  test.each(functions)('lets Lambda connect %s to the network, and not its code', (name) => {
    const Action = [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ];
    const Condition = {
      ArnEquals: { 'lambda:SourceFunctionArn': { 'Fn::GetAtt': [`Relay${name}Function`, 'Arn'] } },
    };
    const roles = [{ Ref: `Relay${name}Role` }];

    expect(statementsOf(`Relay${name}Network`)).toEqual({
      statements: [{ Action, Effect: 'Allow', Resource: '*' }],
      roles,
    });
    expect(statementsOf(`Relay${name}NetworkOfLambdaAlone`)).toEqual({
      statements: [{ Action, Effect: 'Deny', Resource: '*', Condition }],
      roles,
    });
  });

  test('costs what docs/builders/cost.md says', () => {
    expect(readProjectFile('docs/builders/cost.md')).toContain(
      `it adds ${fixedAddressCost(fixed).toFixed(2)} a month`,
    );
  });

  test('is refused with an exchange on another port, which the network does not let out', async () => {
    const other = { address: 'https://exchange.example:8443', dialect: 'live' as const };

    await expect(synthesize({ config: { ...config, exchange: other } })).rejects.toThrow(
      'names another port',
    );
  });
});
