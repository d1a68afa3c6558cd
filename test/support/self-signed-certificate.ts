import { generateKeyPairSync, sign } from 'node:crypto';

/** A private key and a certificate for `localhost` that nobody else vouches for, both as PEM. */
export interface SelfSignedCertificate {
  readonly key: string;
  readonly cert: string;
}

const ecdsaWithSha256 = tlv(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
const commonNameId = Buffer.from('0603550403', 'hex');
const subjectAltNameId = Buffer.from('0603551d11', 'hex');

/** @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1 the structure of a certificate */
export function createSelfSignedCertificate(): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(tlv(0x31, sequence(commonNameId, tlv(0x0c, Buffer.from('localhost')))));
  const altNames = sequence(tlv(0x82, Buffer.from('localhost')));
  const extensions = sequence(sequence(subjectAltNameId, tlv(0x04, altNames)));
  const certificate = sequence(
    tlv(0xa0, Buffer.from('020102', 'hex')),
    Buffer.from('020101', 'hex'),
    ecdsaWithSha256,
    name,
    sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions),
  );
  const signature = tlv(0x03, Buffer.concat([Buffer.of(0), sign('sha256', certificate, privateKey)]));
  const der = sequence(certificate, ecdsaWithSha256, signature);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

/** Tag, length, value. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}
