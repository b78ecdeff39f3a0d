import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { FeeHistoryReader } from "../../../src/rpc/fees/feeHistory.ts";
import { GasPriceOracle, type GasPriceSettings } from "../../../src/rpc/fees/gasPriceOracle.ts";
import { createPriceSample, percentileOf } from "../../../src/rpc/fees/priceSample.ts";
import { missedFloor } from "../../../src/txpool/limits.ts";
import { aChainSpec } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf, type RecordedChain } from "../../builders/recordedChain.ts";

const legacy = (gasPrice: bigint) => aTransaction({ gasPrice });
const feeMarket = (maxPriorityFeePerGas: bigint) =>
  aTransaction({ type: 2, maxPriorityFeePerGas, maxFeePerGas: 1_000_000n });

const SETTINGS: GasPriceSettings = {
  blocks: 3,
  percentile: 50,
  maxWei: 500n,
  minGasPriceWei: 7n,
  minPriorityFeeWei: 2n,
};

describe("a percentile of prices", () => {
  it("equals the one of all prices sorted", () => {
    const price = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
    fc.assert(
      fc.property(
        fc.array(fc.array(price, { maxLength: 12 })),
        fc.integer({ min: 0, max: 100 }),
        (blocks, percentile) => {
          const sorted = blocks.flat().sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          const index = Math.min(sorted.length - 1, Math.floor(sorted.length * (percentile / 100)));
          expect(percentileOf(blocks.map(createPriceSample), percentile)).toBe(sorted[index]);
        },
      ),
    );
  });

  it("caps prices at 2^64 - 1 wei", () => {
    expect(percentileOf([createPriceSample([2n ** 200n])], 50)).toBe(2n ** 64n - 1n);
  });
});

describe("the gas price oracle", () => {
  const oracleOf = (chain: RecordedChain, settings: Partial<GasPriceSettings> = {}, baseFee?: bigint) =>
    new GasPriceOracle(
      { ...SETTINGS, ...settings },
      { chain, spec: aChainSpec(chain, { chainId: 1n, fork: "london" }), nextBaseFeePerGas: () => baseFee },
    );
  const chainWith = (...pricesByBlock: readonly (readonly bigint[])[]) =>
    chainOf(
      pricesByBlock.map((prices, number) => aStoredBlock({ number, transactions: prices.map(legacy) })),
    );

  it("returns its lower bound without recent gas prices: what the node's floors ask beside the next base fee", async () => {
    const chain = chainOf([aStoredBlock(), aStoredBlock({ number: 1, transactions: [feeMarket(50n)] })]);
    expect(await oracleOf(chain).gasPriceWei()).toBe(7n);
    expect(await oracleOf(chain, { minPriorityFeeWei: 0n }, 100n).gasPriceWei()).toBe(100n);
    expect(await oracleOf(chain, { minPriorityFeeWei: 20n }, 100n).gasPriceWei()).toBe(120n);
    expect(await oracleOf(chain, { minPriorityFeeWei: 20n }).gasPriceWei()).toBe(20n);
    expect(await oracleOf(chain, {}, 3n).gasPriceWei()).toBe(7n);
  });

  it("returns the percentile of the last blocks, including the head, within its bounds", async () => {
    const chain = chainWith([], [10n], [20n, 30n], [40n]);
    expect(await oracleOf(chain).gasPriceWei()).toBe(30n);
    expect(await oracleOf(chain, { percentile: 0 }).gasPriceWei()).toBe(10n);
    expect(await oracleOf(chain, { percentile: 100 }).gasPriceWei()).toBe(40n);
    expect(await oracleOf(chain, { blocks: 1 }).gasPriceWei()).toBe(40n);
    expect(await oracleOf(chain, { maxWei: 25n }).gasPriceWei()).toBe(25n);
    expect(await oracleOf(chain, { minGasPriceWei: 35n }).gasPriceWei()).toBe(35n);
    expect(await oracleOf(chain, { minGasPriceWei: 35n, maxWei: 25n }).gasPriceWei()).toBe(35n);
  });

  it("follows the head forwards and backwards", async () => {
    const chain = chainWith([], [10n], [20n], [30n], [40n], [50n]);
    chain.moveHead(1);
    const oracle = oracleOf(chain);
    expect(await oracle.gasPriceWei()).toBe(10n);
    chain.moveHead(5);
    expect(await oracle.gasPriceWei()).toBe(40n);
    chain.moveHead(2);
    expect(await oracle.gasPriceWei()).toBe(20n);
  });

  it("takes priority fees from the blocks before the head", async () => {
    const tips = [1n, 3n, 5n, 9n].map((tip, number) =>
      aStoredBlock({ number, transactions: [feeMarket(tip)] }),
    );
    expect(await oracleOf(chainOf(tips), {}, 7n).maxPriorityFeeWei()).toBe(3n);
    expect(await oracleOf(chainOf(tips.slice(0, 1)), {}, 7n).maxPriorityFeeWei()).toBe(2n);
  });

  it("suggests no lower priority fee than reaches the minimum gas price together with the base fee", async () => {
    const empty = chainOf([aStoredBlock(), aStoredBlock({ number: 1 })]);
    const free = chainOf([aStoredBlock({ transactions: [feeMarket(0n)] }), aStoredBlock({ number: 1 })]);
    for (const chain of [empty, free]) {
      expect(await oracleOf(chain, { minGasPriceWei: 1000n }, 0n).maxPriorityFeeWei()).toBe(1000n);
      expect(await oracleOf(chain, { minGasPriceWei: 1000n }, 7n).maxPriorityFeeWei()).toBe(993n);
      expect(await oracleOf(chain, { minGasPriceWei: 1000n }, 10_000n).maxPriorityFeeWei()).toBe(2n);
    }
  });

  it("suggests prices that this node takes in the next block, and tips that it takes in later ones, however empty", async () => {
    const amount = fc.bigInt({ min: 0n, max: 5000n });
    const chain = chainOf([aStoredBlock(), aStoredBlock({ number: 1 })]);
    await fc.assert(
      fc.asyncProperty(amount, amount, amount, async (baseFee, minGasPriceWei, minPriorityFeeWei) => {
        const floors = { minGasPriceWei, minPriorityFeeWei };
        const oracle = oracleOf(chain, { ...floors, maxWei: 10_000n }, baseFee);
        expect(missedFloor((await oracle.gasPriceWei()) - baseFee, baseFee, floors)).toBeUndefined();
        const tipWei = await oracle.maxPriorityFeeWei();
        let laterBaseFee = baseFee;
        for (let block = 0; block <= 8; block++) {
          expect(missedFloor(tipWei, laterBaseFee, floors)).toBeUndefined();
          laterBaseFee -= laterBaseFee / 8n;
        }
      }),
    );
  });

  it("expects no fall of a base fee that the genesis file fixes", async () => {
    const chain = chainOf([aStoredBlock(), aStoredBlock({ number: 1 })]);
    const spec = aChainSpec(chain, { chainId: 1n, fork: "london" });
    const settings = { ...SETTINGS, minGasPriceWei: 1000n };
    const fixed = { chain, spec: { ...spec, fixedBaseFeePerGas: 900n }, nextBaseFeePerGas: () => 900n };
    expect(await new GasPriceOracle(settings, fixed).maxPriorityFeeWei()).toBe(100n);
  });

  it("reads each block only once", async () => {
    const chain = chainWith([], [10n], [20n], [30n]);
    let reads = 0;
    const counting: RecordedChain = {
      ...chain,
      head: chain.head,
      blockByNumber: (number) => {
        reads++;
        return chain.blockByNumber(number);
      },
    };
    const oracle = oracleOf(counting);
    await Promise.all([oracle.gasPriceWei(), oracle.maxPriorityFeeWei(), oracle.gasPriceWei()]);
    await oracle.gasPriceWei();
    expect(reads).toBe(3);
  });
});

describe("the fee history", () => {
  const blocks = [
    aStoredBlock({ baseFeePerGas: 8n }),
    aStoredBlock({
      number: 1,
      baseFeePerGas: 10n,
      transactions: [feeMarket(30n), legacy(20n), feeMarket(5n)],
      gasUsed: [50_000n, 30_000n, 20_000n],
    }),
    aStoredBlock({ number: 2, baseFeePerGas: 11n }),
  ];
  const chain = chainOf(blocks);
  const spec = aChainSpec(chain, { chainId: 1337n, fork: "cancun" });
  const reader = new FeeHistoryReader({ chain, spec, nextBaseFeePerGas: () => 12n });

  it("weights priority fees by the gas used, in rising order", async () => {
    const { reward } = await reader.read({
      newest: 1n,
      blockCount: 1,
      percentiles: [20, 20.1, 50, 50.1, 100],
    });
    expect(reward).toEqual([["0x5", "0xa", "0xa", "0x1e", "0x1e"]]);
  });

  it("lets the event loop turn between blocks, also when all of their fees are cached", async () => {
    const request = { newest: 2n, blockCount: 3, percentiles: [50] };
    await reader.read(request);
    const clock = vi.spyOn(performance, "now");
    let ms = 0;
    clock.mockImplementation(() => (ms += 60_000));
    let turns = 0;
    let isReading = true;
    const turn = (): void => {
      turns++;
      if (isReading) setImmediate(turn);
    };
    setImmediate(turn);
    await reader.read(request).finally(() => clock.mockRestore());
    isReading = false;
    // One for each header, and one for the rewards of each block.
    expect(turns).toBeGreaterThanOrEqual(6);
  });

  it("sorts percentiles, and gives the highest fee above 100 and zeros for an empty block", async () => {
    const { reward } = await reader.read({ newest: 2n, blockCount: 2, percentiles: [101, 50, 10] });
    expect(reward).toEqual([
      ["0x5", "0xa", "0x1e"],
      ["0x0", "0x0", "0x0"],
    ]);
  });

  it("starts at genesis at the earliest, and ends with the known or predicted fees of the next block", async () => {
    const history = await reader.read({ newest: 2n, blockCount: 5, percentiles: undefined });
    expect(history).toEqual({
      oldestBlock: "0x0",
      baseFeePerGas: ["0x8", "0xa", "0xb", "0xc"],
      baseFeePerBlobGas: ["0x0", "0x1", "0x1", "0x1"],
      gasUsedRatio: [0, 100_000 / 30_000_000, 0],
      blobGasUsedRatio: [0, 0, 0],
    });
    expect((await reader.read({ newest: 0n, blockCount: 1, percentiles: [] })).baseFeePerGas).toEqual([
      "0x8",
      "0xa",
    ]);
  });
});
