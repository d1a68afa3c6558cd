import { Validations } from 'aws-cdk-lib';
import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';

/**
 * A network whose only way out has one address that stays. The exchange can then accept a key from that address alone.
 *
 * It lies in one availability zone: a second one would need a NAT gateway, an address and 36 dollars more a month.
 */
export class FixedAddress extends Construct {
  readonly vpc: IVpc;
  readonly securityGroup: SecurityGroup;
  /** What the exchange sees. */
  readonly address: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const address = new CfnEIP(this, 'Address', { domain: 'vpc' });
    this.address = address.attrPublicIp;
    const network = new Vpc(this, 'Network', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/24'),
      maxAzs: 1,
      natGateways: 1,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: [address.attrAllocationId] }),
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 26 },
      ],
      // Nothing uses the default group; a function to empty it would be one more thing with rights.
      restrictDefaultSecurityGroup: false,
      // Without charge, and the ledger is most of what the functions send.
      gatewayEndpoints: { Ledger: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
    });
    // The CDK's own types differ in what may be undefined.
    this.vpc = network as IVpc;
    this.securityGroup = new SecurityGroup(this, 'Functions', {
      vpc: this.vpc,
      description: 'Functions of the relay: HTTPS out, nothing in',
      allowAllOutbound: false,
    });
    this.securityGroup.addEgressRule(Peer.anyIpv4(), Port.HTTPS, 'AWS and the exchange');
    Validations.of(network).acknowledge({
      id: 'AwsSolutions-VPC7',
      reason: 'Nothing can connect from outside, and the ledger records every request to the exchange.',
    });
  }
}
