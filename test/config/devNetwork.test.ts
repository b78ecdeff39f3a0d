import { readFileSync } from "node:fs";
import { keccak256, stringToBytes, toHex } from "viem";
import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { deriveGenesisBlock } from "../../src/chain/genesisBlock.ts";
import { forkAt } from "../../src/chainspec/forks.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import {
  DEV_ACCOUNTS,
  DEV_CANCUN_GENESIS_FILE,
  DEV_GENESIS_FILE,
  DEV_MNEMONIC,
  DEV_VALIDATOR_ADDRESS,
  DEV_VALIDATOR_KEY,
  DEV_VALIDATOR_KEY_FILE,
} from "../../src/config/devNetwork.ts";
import { HISTORY_CONTRACT } from "../../src/execution/systemCalls.ts";
import { toHex as ourHex, toDigits } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";

interface DevGenesis {
  readonly comment: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly alloc: Readonly<Record<string, unknown>>;
}

describe("the development network", () => {
  const outcome = parseGenesis(readFileSync(DEV_GENESIS_FILE, "utf8"), DEV_GENESIS_FILE);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const spec = outcome.value;

  it("has the contract of past block hashes, and no other of those that Prague calls", () => {
    const contracts = spec.genesis.alloc.filter(({ code }) => code.length > 0);
    expect(contracts.map(({ address, nonce, code }) => [ourHex(address), nonce, code.length])).toEqual([
      [ourHex(HISTORY_CONTRACT), 1n, 83],
    ]);
  });

  it("is that of earlier versions but for Prague and that contract, in a file of its own", () => {
    const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as DevGenesis;
    const { comment: _, ...former } = read(DEV_CANCUN_GENESIS_FILE);
    const { config, alloc, comment, ...others } = read(DEV_GENESIS_FILE);
    const { pragueTime, ...earlierConfig } = config;
    const funded = Object.entries(alloc).filter(
      ([address]) => address.toLowerCase() !== ourHex(HISTORY_CONTRACT),
    );
    expect(pragueTime).toBe(0);
    expect({ ...others, config: earlierConfig, alloc: Object.fromEntries(funded) }).toEqual(former);
    // What the versions before have in their folders.
    const reading = parseGenesis(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8"), DEV_CANCUN_GENESIS_FILE);
    expect(reading.ok && ourHex(deriveGenesisBlock(reading.value).hash)).toBe(
      "0xe62073c3f5a21104ede2b2eecbb9d7105accc95a76ef165f41a3a63bc8dcdade",
    );
  });

  it("funds the first ten accounts of the mnemonic with 10,000 ether each, and no others", () => {
    const derived = DEV_ACCOUNTS.map((_, addressIndex) => {
      const account = mnemonicToAccount(DEV_MNEMONIC, { addressIndex });
      return {
        address: account.address,
        privateKey: toHex(account.getHdKey().privateKey ?? new Uint8Array()),
      };
    });
    expect(DEV_ACCOUNTS).toHaveLength(10);
    expect(DEV_ACCOUNTS).toEqual(derived);
    const funded = spec.genesis.alloc.filter(({ balance }) => balance > 0n);
    expect(funded.map(({ address, balance }) => [ourHex(address), balance])).toEqual(
      derived.map(({ address }) => [address.toLowerCase(), 10_000n * 10n ** 18n]),
    );
  });

  it("has one validator, whose key anyone can derive", () => {
    const { header } = spec.genesis;
    const extra = decodeExtraData(header.extraData);
    expect(extra.ok && extra.value.validators.map(ourHex)).toEqual([ourHex(DEV_VALIDATOR_ADDRESS)]);
    expect(ourHex(addressOfPrivateKey(DEV_VALIDATOR_KEY))).toBe(ourHex(DEV_VALIDATOR_ADDRESS));
    expect(privateKeyToAddress(ourHex(DEV_VALIDATOR_KEY)).toLowerCase()).toBe(ourHex(DEV_VALIDATOR_ADDRESS));
    expect(readFileSync(DEV_VALIDATOR_KEY_FILE, "utf8")).toBe(`${toDigits(DEV_VALIDATOR_KEY)}\n`);
    expect(keccak256(stringToBytes("ibex development network validator"))).toBe(ourHex(DEV_VALIDATOR_KEY));
  });

  it("has chain id 1337, Prague, a block each second, a gas limit for 12,000 transfers, no base fee", () => {
    expect(spec.chainId).toBe(1337n);
    expect(forkAt(spec.forks, 0n, 0n)).toBe("prague");
    expect(spec.ibft.eras.map(({ parameters }) => parameters.blockPeriodSeconds)).toEqual([1]);
    expect(spec.genesis.header.gasLimit).toBeGreaterThanOrEqual(300_000_000n);
    expect(spec.isZeroBaseFee).toBe(true);
    expect(spec.genesis.header.baseFeePerGas).toBe(0n);
    expect(spec.contractSizeLimitBytes).toBe(24_576);
  });
});
