import { createHash } from "node:crypto";
import { Common, type CommonOpts, type ParamsDict } from "@ethereumjs/common";
import { paramsEVM } from "@ethereumjs/evm";
import { FORK_NAMES, type ForkName } from "../chainspec/forks.ts";
import { keccak256 } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import { curve } from "../primitives/secp256k1.ts";

/** The chain's parameters for the interpreter, besides the fork. */
export interface ChainConfig {
  readonly chainId: bigint;
  readonly contractSizeLimitBytes: number;
  /** Maximum words on a frame's stack: 1,024 unless the genesis file sets it. */
  readonly stackLimit: number;
}

type CommonConfig = Pick<ChainConfig, "chainId" | "contractSizeLimitBytes">;

/**
 * The library's object with the parameters of one fork on one chain. Building it takes a millisecond, so each is
 * cached; it is never copied and never switched to another fork.
 */
export function libraryCommon(config: CommonConfig, fork: ForkName): Common {
  const key = `${config.chainId}/${config.contractSizeLimitBytes}/${fork}`;
  let common = built.get(key);
  if (common === undefined) {
    common = new ForkCommon(optionsOf(config, fork));
    built.set(key, common);
  }
  return common;
}

const built = new Map<string, Common>();

/**
 * Caches lookups of parameters, forks and EIPs: the interpreter makes several in each instruction, and the library
 * searches lists for each.
 */
class ForkCommon extends Common {
  // Undefined while the library's constructor runs, which already reads parameters.
  private readonly paramValues: Map<string, bigint> | undefined = new Map();
  private readonly forks: Map<string, boolean> | undefined = new Map();
  private readonly activeEips: Map<number, boolean> | undefined = new Map();

  override param(name: string): bigint {
    let value = this.paramValues?.get(name);
    if (value === undefined) {
      value = super.param(name);
      this.paramValues?.set(name, value);
    }
    return value;
  }

  override gteHardfork(fork: string): boolean {
    let isActive = this.forks?.get(fork);
    if (isActive === undefined) {
      isActive = super.gteHardfork(fork);
      this.forks?.set(fork, isActive);
    }
    return isActive;
  }

  override isActivatedEIP(eip: number): boolean {
    let isActive = this.activeEips?.get(eip);
    if (isActive === undefined) {
      isActive = super.isActivatedEIP(eip);
      this.activeEips?.set(eip, isActive);
    }
    return isActive;
  }

  /** Called by each new interpreter with its parameters, which the constructor already has. */
  override updateParams(): void {}
}

function optionsOf({ chainId, contractSizeLimitBytes }: CommonConfig, fork: ForkName): CommonOpts {
  return {
    chain: {
      name: "ibex",
      chainId: chainId.toString(),
      // Our own names, so that the library takes no code path for proof of work, proof of stake or Clique.
      consensus: { type: "ibft2", algorithm: "ibft2" },
      genesis: { gasLimit: 0, difficulty: 0, nonce: "0x0000000000000000", extraData: "0x" },
      hardforks: FORK_NAMES.flatMap(libraryForks).map((name) => ({ name, block: 0 })),
      bootstrapNodes: [],
    },
    hardfork: fork === "frontier" ? "chainstart" : fork,
    params: { ...paramsEVM, 607: { ...paramsEVM[607], maxCodeSize: contractSizeLimitBytes } } as ParamsDict,
    customCrypto: {
      keccak256,
      sha256: (bytes) => Uint8Array.from(createHash("sha256").update(bytes).digest()),
      ecrecover,
    },
  };
}

/** The library has another name for Frontier, and a separate fork for the move to proof of stake. */
function libraryForks(fork: ForkName): readonly string[] {
  if (fork === "frontier") return ["chainstart"];
  return fork === "shanghai" ? ["paris", "shanghai"] : [fork];
}

/** For the precompiled contract: `v` is 27 or 28; throws if no key can be recovered. */
function ecrecover(digest: Uint8Array, v: bigint, r: Uint8Array, s: Uint8Array): Uint8Array {
  const publicKey = curve.recover(digest, concatBytes(r, s), v === 28n ? 1 : 0);
  if (publicKey === undefined) throw new RangeError("no public key can be recovered");
  return publicKey;
}
