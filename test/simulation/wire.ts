import type { Authored, Payload, RoundChangePayload, Signed } from "../../src/ibft/message.ts";
import { messageHash } from "../../src/ibft/payloadCodec.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { isTokenOf, toyAddress } from "../builders/toyChain.ts";

/** What a signature that was tampered with recovers to: some address that belongs to nobody. */
const STRANGER = toyAddress(200);

/** The signer of a token, or undefined when it is not about `digest`. */
export function signerOfToken(signature: Signature, digest: Uint8Array): Address | undefined {
  const signer = asAddress(bigintToFixedBytes(signature.s, 20));
  return isTokenOf(signature, signer, digest) ? signer : undefined;
}

/**
 * What the wire makes of the words of a liar: signers are recovered from the signatures, whatever the liar says who
 * signed, nested ones too. So a liar can use what it has heard, and sign as itself, and nothing else.
 */
export function recoverSigners(message: Authored): Authored {
  switch (message.kind) {
    case "proposal":
      return {
        ...message,
        signed: recovered(message.signed),
        ...(message.certificate && { certificate: message.certificate.map(recoveredRoundChange) }),
      };
    case "prepare":
      return { ...message, signed: recovered(message.signed) };
    case "commit": {
      const { digest, seal } = message.signed.payload;
      return { kind: "commit", signed: recovered(message.signed), sealer: signerOfToken(seal, digest) };
    }
    case "roundChange":
      return { ...message, signed: recoveredRoundChange(message.signed) };
  }
}

function recovered<P extends Payload>({ payload, signature }: Signed<P>): Signed<P> {
  return { payload, signature, author: signerOfToken(signature, messageHash(payload)) ?? STRANGER };
}

function recoveredRoundChange(signed: Signed<RoundChangePayload>): Signed<RoundChangePayload> {
  const { prepared } = signed.payload;
  if (prepared === undefined) return recovered(signed);
  const { proposal, prepares } = prepared;
  const certificate = { proposal: recovered(proposal), prepares: prepares.map(recovered) };
  return recovered({ ...signed, payload: { ...signed.payload, prepared: certificate } });
}
