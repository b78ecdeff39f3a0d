import { createHash } from "node:crypto";
import { Common, type CommonOpts, type ParamsDict } from "@ethereumjs/common";
import { paramsEVM } from "@ethereumjs/evm";
import { FORK_NAMES, type ForkName } from "../chainspec/forks.ts";
import { keccak256 } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import { curve } from "../primitives/secp256k1.ts";

/** What the interpreter has to know of a chain besides the fork. */
export interface ChainConfig {
  readonly chainId: bigint;
  readonly contractSizeLimitBytes: number;
  /** Most words on a frame's stack: 1,024 unless the genesis file says otherwise. */
  readonly stackLimit: number;
}

type CommonConfig = Pick<ChainConfig, "chainId" | "contractSizeLimitBytes">;

/**
 * The library's object for the parameters of one fork on one chain. Building it takes a millisecond, so there is one
 * for each, never copied and never switched to another fork.
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
 * The interpreter asks for a parameter, a fork or an EIP several times in each instruction, and the library answers by
 * searching lists. Here each question is answered once.
 */
class ForkCommon extends Common {
  // Absent while the library's constructor runs, which already asks.
  private readonly params: Map<string, bigint> | undefined = new Map();
  private readonly forks: Map<string, boolean> | undefined = new Map();
  private readonly eipAnswers: Map<number, boolean> | undefined = new Map();

  override param(name: string): bigint {
    let value = this.params?.get(name);
    if (value === undefined) {
      value = super.param(name);
      this.params?.set(name, value);
    }
    return value;
  }

  override gteHardfork(fork: string): boolean {
    let answer = this.forks?.get(fork);
    if (answer === undefined) {
      answer = super.gteHardfork(fork);
      this.forks?.set(fork, answer);
    }
    return answer;
  }

  override isActivatedEIP(eip: number): boolean {
    let answer = this.eipAnswers?.get(eip);
    if (answer === undefined) {
      answer = super.isActivatedEIP(eip);
      this.eipAnswers?.set(eip, answer);
    }
    return answer;
  }

  /** Each interpreter brings its parameters along on creation; they were given to the constructor already. */
  override updateParams(): void {}
}

function optionsOf({ chainId, contractSizeLimitBytes }: CommonConfig, fork: ForkName): CommonOpts {
  return {
    chain: {
      name: "ibex",
      chainId: chainId.toString(),
      // Our own names, so that the library takes no path of proof of work, proof of stake or Clique.
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

/** The library calls Frontier by another name, and has a fork of its own for the move to proof of stake. */
function libraryForks(fork: ForkName): readonly string[] {
  if (fork === "frontier") return ["chainstart"];
  return fork === "shanghai" ? ["paris", "shanghai"] : [fork];
}

/** For the precompiled contract: v is 27 or 28, and a throw means that nothing can be recovered. */
function ecrecover(digest: Uint8Array, v: bigint, r: Uint8Array, s: Uint8Array): Uint8Array {
  const publicKey = curve.recover(digest, concatBytes(r, s), v === 28n ? 1 : 0);
  if (publicKey === undefined) throw new RangeError("no key fits this signature");
  return publicKey;
}
