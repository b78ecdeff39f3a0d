import { ZERO_HASH } from "../primitives/hash.ts";
import { createOverlay, type Overlay } from "../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import type { SimulationScene } from "./simulate.ts";
import type { AccountOverride, BlockOverride, Overrides } from "./simulation.ts";

/** The scene as the caller wants it. */
export function overridden(scene: SimulationScene, { accounts = [], block }: Overrides): SimulationScene {
  if (accounts.length === 0 && block === undefined) return scene;
  const state = createOverlay(scene.state);
  overrideAccounts(state, accounts);
  const changed = accounts.length === 0 ? scene : { ...scene, state };
  return block === undefined ? changed : withBlock(changed, block);
}

/** Writes what is to be otherwise to an overlay, as if it had always been so. */
export function overrideAccounts(overlay: Overlay, overrides: readonly AccountOverride[]): void {
  for (const { address, nonce, balance, code, storage } of overrides) {
    const account = overlay.account(address) ?? EMPTY_ACCOUNT;
    overlay.putAccount(address, {
      ...account,
      nonce: nonce ?? account.nonce,
      balance: balance ?? account.balance,
    });
    if (code !== undefined) overlay.putCode(address, code);
    if (storage?.replacesAll === true) overlay.clearStorage(address);
    for (const { slot, value } of storage?.slots ?? []) overlay.putStorage(address, slot, value);
  }
}

/** A base fee only where the block has one: before London there is none to be otherwise. */
function withBlock(scene: SimulationScene, block: BlockOverride): SimulationScene {
  const { header } = scene;
  const { beneficiary, blobBaseFee, baseFeePerGas, number, ...others } = block;
  const parentHash =
    number === undefined ? header.parentHash : (scene.ancestorHash(number - 1n) ?? ZERO_HASH);
  return {
    ...scene,
    header: {
      ...header,
      ...others,
      number: number ?? header.number,
      parentHash,
      ...(baseFeePerGas !== undefined && header.baseFeePerGas !== undefined && { baseFeePerGas }),
    },
    blockTerms: {
      ...(beneficiary !== undefined && { beneficiary }),
      ...(blobBaseFee !== undefined && { blobBaseFee }),
    },
  };
}
