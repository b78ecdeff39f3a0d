import type { RemoteSigner } from "../../consensus/ports.ts";
import type { Address } from "../../primitives/address.ts";
import { durationClock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { NodeKey } from "../keys/nodeKey.ts";
import type { OpenContext } from "../openContext.ts";
import type { SignerHealth } from "./signerHealth.ts";

/** The validator of this node, and what signs for it. */
export interface ValidatorIdentity {
  readonly address: Address;
  /** Who signs for it, and how that does; absent where the node's key is the validator's. */
  readonly signer?: RemoteSigner | undefined;
  readonly health?: (() => SignerHealth) | undefined;
}

/** Asks the remote signer for its keys, if there is one. */
export async function openValidator(
  { settings, logger, metrics, openParts }: OpenContext,
  key: NodeKey,
): Promise<Result<ValidatorIdentity, "unusableSigner">> {
  if (settings.signer === undefined) return ok({ address: key.address });
  // Not loaded where the node signs itself.
  const { openSigner } = await import("./openSigner.ts");
  const opened = await openSigner(settings.signer, {
    nodeAddress: key.address,
    requestTimeoutSeconds: settings.chainSpec.ibft.requestTimeoutSeconds,
    clock: durationClock,
    logger,
    metrics,
  });
  if (opened.ok) openParts.add(opened.value);
  return opened;
}
