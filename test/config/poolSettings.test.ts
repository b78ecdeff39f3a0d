import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { findOption } from "../../src/config/options.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { Settings } from "../../src/config/settings.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";

/** `options` have the form name=value. */
function read(options: readonly string[]) {
  const raw = [`genesis-file=${DEV_GENESIS_FILE}`, ...options].map((option) => {
    const [spelling = "", ...rest] = option.split("=");
    const name = findOption(spelling);
    if (name === undefined) throw new Error(`no option ${spelling}`);
    return { name, text: rest.join("="), source: { kind: "commandLine" } as const };
  });
  return readSettings({ raw, environment: {}, workingDirectory: "/tmp/node", isTerminal: false });
}

function settings(options: readonly string[]): Settings {
  const outcome = read(options);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

describe("a price bump of zero", () => {
  it("is noted when gas is free, unless the operator sets another", () => {
    const zeroBaseFee =
      "Forcing price bump for transaction replacement to 0, since we are on a zero basefee network";
    expect(settings([]).notes).toEqual([zeroBaseFee]);
    const paid = "override-genesis-config=zeroBaseFee=false";
    expect(settings([paid]).notes).toEqual([]);
    expect(settings([paid, "min-gas-price=0"]).notes).toEqual([
      "Forcing price bump for transaction replacement to 0, since min-gas-price is set to 0",
    ]);
    expect(settings([paid, "min-gas-price=0", "tx-pool-price-bump=5"]).notes).toEqual([]);
  });
});

describe("the kind of pool", () => {
  it("is layered by default: limited by bytes and count, without expiry", () => {
    const { maxTransactions, maxBytes, maxFutureBySender, retentionMs } = settings([]).pool;
    expect({ maxTransactions, maxBytes, maxFutureBySender, retentionMs }).toEqual({
      maxTransactions: DEFAULT_TX_POOL_LIMITS.maxTransactions,
      maxBytes: DEFAULT_TX_POOL_LIMITS.maxBytes,
      maxFutureBySender: 200,
      retentionMs: Number.POSITIVE_INFINITY,
    });
  });

  it("sequenced has Besu's limits: 4096 transactions, 5 ahead, 13 hours", () => {
    for (const kind of ["SEQUENCED", "sequenced", "LEGACY"]) {
      expect(settings([`tx-pool=${kind}`]).pool).toMatchObject({
        maxTransactions: 4096,
        maxFutureBySender: 5,
        retentionMs: 13 * 3_600_000,
      });
    }
  });

  it.each([
    [0.002, 4096, 9],
    [0.0001, 4096, 1],
    [0.15, 4096, 615],
    [1, 2500, 2500],
  ])("sequenced: a share of %d of %d transactions allows a sender to be %d ahead", (share, size, ahead) => {
    const given = [
      "tx-pool=SEQUENCED",
      `tx-pool-limit-by-account-percentage=${share}`,
      `tx-pool-max-size=${size}`,
    ];
    expect(settings(given).pool).toMatchObject({ maxTransactions: size, maxFutureBySender: ahead });
  });

  it("sequenced: transactions expire at the configured age", () => {
    expect(settings(["tx-pool=SEQUENCED", "tx-pool-retention-hours=2"]).pool.retentionMs).toBe(7_200_000);
  });
});

describe("the pool size that is shown", () => {
  it.each<[readonly string[], number]>([
    [[], -1],
    [["tx-pool=LAYERED"], -1],
    [["tx-pool-max-size=4096"], 4096],
    [["tx-pool=SEQUENCED", "tx-pool-max-size=5"], 5],
    [["tx-pool=LEGACY"], 4096],
  ])("is for %j %d, as Besu's layered pool shows none", (options, shown) => {
    expect(settings(options).rpc.poolMaxSize).toBe(shown);
  });
});

describe("the file that keeps the pool", () => {
  it.each<[readonly string[], string | undefined]>([
    [[], undefined],
    [["tx-pool-enable-save-restore"], "/tmp/node/data/txpool.dump"],
    [["tx-pool-enable-save-restore=true", "tx-pool-save-file=kept/pool"], "/tmp/node/data/kept/pool"],
    [["tx-pool-enable-save-restore=true", "tx-pool-save-file=/srv/pool"], "/srv/pool"],
  ])("is with %j %s", (options, file) => {
    const given = options.map((option) => (option.includes("=") ? option : `${option}=true`));
    expect(settings(["data-path=data", ...given]).poolFile).toBe(file);
  });
});

describe("options of the other kind of pool give warnings", () => {
  it.each<[readonly string[], readonly string[]]>([
    [["tx-pool=SEQUENCED", "tx-pool-max-size=9", "tx-pool-retention-hours=1"], []],
    [["tx-pool=LAYERED", "tx-pool-max-prioritized=9", "tx-pool-layer-max-capacity=1000"], []],
    [
      ["tx-pool-max-size=4096", "tx-pool-retention-hours=2"],
      [
        "--tx-pool-retention-hours has no effect with --tx-pool=LAYERED: only --tx-pool=SEQUENCED uses it.",
        "--tx-pool-max-size belongs to --tx-pool=SEQUENCED; it limits the layered pool, too.",
      ],
    ],
    [
      ["tx-pool=legacy", "tx-pool-max-prioritized=7", "tx-pool-max-future-by-sender=8"],
      [
        "--tx-pool-max-prioritized, --tx-pool-max-future-by-sender have no effect with --tx-pool=LEGACY: the sequenced pool is limited by count and age.",
      ],
    ],
    [
      ["tx-pool-blob-price-bump=50", "tx-pool-max-prioritized-by-type=BLOB=3,frontier=9"],
      [
        "--tx-pool-blob-price-bump has no effect in this node: blob transactions are not supported.",
        "--tx-pool-max-prioritized-by-type has no effect in this node: --tx-pool-max-prioritized limits all types together, and blob transactions are not supported.",
      ],
    ],
    [
      ["tx-pool-save-file=x"],
      [
        "tx-pool-save-file has been ignored because --tx-pool-enable-save-restore was not defined on the command line.",
      ],
    ],
  ])("%j", (options, warnings) => {
    expect(settings(options).warnings).toEqual(warnings);
  });
});

describe("values out of range", () => {
  it.each([
    ["rpc-tx-feecap=18446744073709551616", "'18446744073709551616' is above 18446744073709551615"],
    ["tx-pool-limit-by-account-percentage=0", "'0' is not above 0"],
    ["tx-pool-limit-by-account-percentage=1.1", "'1.1' is not between 0 and 1"],
    ["tx-pool-max-prioritized-by-type=BLOBS=1", "'BLOBS=1' is not a transaction type and a count"],
    ["tx-pool-price-bump=101", "cannot convert '101' to Percentage (it is above 100)"],
    ["tx-pool=FAIR", "expected one of [LAYERED, SEQUENCED, LEGACY] (case-insensitive) but was 'FAIR'"],
  ])("%s is refused", (option, reason) => {
    const outcome = read([option]);
    expect(outcome.ok ? "" : outcome.error.message).toContain(reason);
  });

  it("the highest cap, and no cap, are accepted", () => {
    expect(settings(["rpc-tx-feecap=18446744073709551615"]).pool.feeCapWei).toBe(2n ** 64n - 1n);
    expect(settings(["rpc-tx-feecap=0"]).pool.feeCapWei).toBe(0n);
  });
});
