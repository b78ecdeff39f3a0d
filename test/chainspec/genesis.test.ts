import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkAt } from "../../src/chainspec/forks.ts";
import { type GenesisReading, parseGenesis, readGenesis } from "../../src/chainspec/genesis.ts";
import { parametersAt } from "../../src/chainspec/ibftParameters.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { casesOf } from "../thorough.ts";

const VALIDATOR = "11".repeat(20);
const EXTRA_DATA = `0xf83ea0${"00".repeat(32)}d594${VALIDATOR}808400000000c0`;

interface Changes {
  readonly root?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly ibft2?: Record<string, unknown>;
}

/** A valid genesis file with changes; undefined removes a key. */
function aGenesis({ root = {}, config = {}, ibft2 = {} }: Changes = {}): string {
  return JSON.stringify({
    config: {
      chainId: 1337,
      berlinBlock: 0,
      ibft2: { blockperiodseconds: 1, epochlength: 30000, requesttimeoutseconds: 10, ...ibft2 },
      ...config,
    },
    extraData: EXTRA_DATA,
    gasLimit: "0x1000000",
    difficulty: "0x1",
    ...root,
  });
}

function reading(text: string): GenesisReading {
  const outcome = readGenesis(text, "net.json");
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

function refusal(text: string): string {
  const outcome = parseGenesis(text, "net.json");
  return outcome.ok ? "accepted" : outcome.error.message;
}

describe("a genesis file", () => {
  it("may have a key twice, in any case: the later counts, as in Besu, and is named in a warning", () => {
    const { spec, warnings } = reading(aGenesis({ config: { chainid: 7 } }));
    expect(spec.chainId).toBe(7n);
    expect(warnings).toEqual(["config.chainid of the genesis file occurs twice; the later one is used."]);
  });

  it("has digits without 0x in the base in which Besu reads them, numbers of JSON too", () => {
    const root = { baseFeePerGas: "1000000000", difficulty: 10, nonce: 42 };
    const alloc = { "1": { nonce: 10, code: "0x123", balance: 10 }, "2": { code: "6" } };
    const { header, alloc: accounts } = reading(aGenesis({ root: { ...root, alloc } })).spec.genesis;
    expect(header.baseFeePerGas).toBe(1_000_000_000n);
    expect([header.difficulty, toHex(header.nonce)]).toEqual([16n, "0x0000000000000042"]);
    expect(accounts.map(({ nonce, balance, code }) => [nonce, balance, toHex(code)])).toEqual([
      [16n, 10n, "0x0123"],
      [0n, 0n, "0x06"],
    ]);
  });

  it("may have an account, or a slot of one, twice: the later counts, as in Besu", () => {
    const alloc = `{ "0x1": { "balance": "1", "code": "0x60", "storage": { "0x1": "1" } }, "2": {},
                     "01": { "balance": "2", "nonce": "0x5", "storage": { "0x2": "1", "2": "3", "0x3": "4" } },
                     "2": { "balance": "7" } }`;
    const text = aGenesis({ root: { alloc: "HERE" } }).replace('"HERE"', alloc);
    const accounts = reading(text).spec.genesis.alloc.map(({ address, balance, nonce, code, storage }) => [
      toHex(address).slice(-2),
      balance,
      nonce,
      code.length,
      storage.map(({ slot, value }) => `${toHex(slot).slice(-1)}: ${toHex(value)}`),
    ]);
    expect(accounts).toEqual([
      ["01", 2n, 5n, 0, ["2: 0x03", "3: 0x04"]],
      ["02", 7n, 0n, 0, []],
    ]);
  });

  it("may have no digits where Besu reads bytes: 0x is zero", () => {
    const alloc = { "1": { balance: "0x", storage: { "0x": "0x1", "0x1": "0x", "0x2": "" } } };
    const { genesis, ibft } = reading(
      aGenesis({ root: { alloc, difficulty: "0x" }, ibft2: { blockreward: "0x" } }),
    ).spec;
    expect(genesis.header.difficulty).toBe(0n);
    expect(ibft.eras[0]?.parameters.blockRewardWei).toBe(0n);
    const [account] = genesis.alloc;
    expect(account?.balance).toBe(0n);
    expect(account?.storage.map(({ slot, value }) => [toHex(slot), toHex(value)])).toEqual([
      [`0x${"0".repeat(64)}`, "0x01"],
    ]);
  });

  it("may have numbers of JSON with a fraction or an exponent where Besu reads a long, which cuts them off", () => {
    const text = aGenesis({
      config: { londonBlock: "L" },
      ibft2: { epochlength: "E", requesttimeoutseconds: "T" },
    })
      .replace('"L"', "1e3")
      .replace('"E"', "3.5E4")
      .replace('"T"', "9.9");
    const { forks, ibft } = reading(text).spec;
    expect(forks.activations.find(({ fork }) => fork === "london")?.at).toEqual({ block: 1000n });
    expect([ibft.epochLength, ibft.requestTimeoutSeconds]).toEqual([35_000n, 9]);
    for (const number of ["1e400", "1e19"])
      expect(refusal(text.replace("3.5E4", number))).toContain("config.ibft2.epochLength must be a number ");
  });

  it("has gas limit, time and base fee in the forms that Java decodes; a leading zero is octal, and said", () => {
    const root = { gasLimit: "#1000000", timestamp: "+12", baseFeePerGas: "010" };
    const { spec, warnings } = reading(aGenesis({ root }));
    const { gasLimit, timestamp, baseFeePerGas } = spec.genesis.header;
    expect([gasLimit, timestamp, baseFeePerGas]).toEqual([0x1000000n, 12n, 8n]);
    expect(spec.initialBaseFeePerGas).toBe(8n);
    expect(warnings).toEqual([
      "baseFeePerGas '010' of the genesis file begins with a zero: it is an octal number, 8, as in Besu.",
    ]);
  });

  it("may have anything for the gas target beside a gas limit, as nobody reads it", () => {
    for (const gasTarget of ["09", "010", "none"])
      expect(reading(aGenesis({ root: { gasTarget } })).warnings).toEqual([]);
  });

  it("may have a section of Clique or IBFT1, and a negative block of the DAO fork: Besu does not look at them", () => {
    const { spec, warnings } = reading(aGenesis({ config: { clique: {}, ibft: {}, daoForkBlock: -1 } }));
    expect(spec.chainId).toBe(1337n);
    expect(warnings).toEqual([
      "config.clique of the genesis file is ignored: config.ibft2 decides the consensus.",
      "config.ibft of the genesis file is ignored: config.ibft2 decides the consensus.",
    ]);
  });

  it("may have null for a rule that it does not have", () => {
    const none = { terminalTotalDifficulty: null, mergeNetSplitBlock: null, osakaTime: null };
    expect(reading(aGenesis({ config: none })).warnings).toEqual([]);
  });

  it("ends with its object: what follows is ignored, as in Besu, and said", () => {
    const text = aGenesis();
    expect(reading(`${text}\n // the end \n`).warnings).toEqual([]);
    expect(reading(`${text}\n}\n}`).warnings).toEqual([
      "The genesis file goes on after its end, from line 2, column 1 on: '}' and all that follows is ignored.",
    ]);
  });

  it("warns of transitions in another place or misspelt, and of what is no setting", () => {
    const transitions = { ibft2: [{ block: 5, blockPeriodSecond: 2 }], ibft: [], qbft: [] };
    const { warnings } = reading(
      aGenesis({
        root: { transitions },
        config: { transitions, transition: {} },
        ibft2: { requesttimeoutseconds: 10, transitions, epochlenght: 7, validators: [] },
      }),
    );
    const misplaced = [
      "transitions",
      "config.ibft2.transitions",
      "config.transition",
      "config.transitions.ibft",
    ];
    const unknown = [
      "config.ibft2.epochlenght",
      "config.ibft2.validators",
      "config.transitions.ibft2[0].blockPeriodSecond",
    ];
    expect(warnings).toEqual([
      ...misplaced.map((path) => expect.stringContaining(`${path} of the genesis file has no effect: `)),
      ...unknown.map((path) => `${path} of the genesis file is not an IBFT 2.0 setting; it is ignored.`),
    ]);
  });

  it("has a stack of at most 65,536 words", () => {
    expect(reading(aGenesis({ config: { evmStackSize: 65_536 } })).spec.evmStackSize).toBe(65_536);
    expect(refusal(aGenesis({ config: { evmStackSize: 65_537 } }))).toContain(
      "config.evmStackSize of at most 65536 words is supported but was '65537'",
    );
  });

  it("may have keys in any case, comments, unknown keys, and numbers in every notation", () => {
    const { spec } = reading(`
      // the network of the example
      { "CONFIG": { "chainID": 123456789012345678901234567890, "BERLINBLOCK": "0x0", "comment": 1, "eip155Block": 0,
          "ibft2": { "blockPeriodSeconds": "2", "EpochLength": 7, "messageQueueLimit": 5, "gossipedHistoryLimit": 6,
                     "duplicateMessageLimit": 7, "futureMessagesLimit": 0, "futureMessagesMaxDistance": 9,
                     "blockReward": "0x10", "miningBeneficiary": "0x${"22".repeat(20)}" },
          "discovery": { "bootnodes": ["enode://a@1.2.3.4:1"] }, "contractSizeLimit": 2147483647, "evmStackSize": 2048 },
        "extradata": "${EXTRA_DATA}", /* sealed by one */ "GasLimit": 9223372036854775807, "difficulty": "1", "NONCE": "42",
        "timestamp": "1491746", "mixHash": "0x1", "coinbase": "1", "number": "0x0", "gasUsed": "nonsense",
        "alloc": { "0xA": { "balance": "115792089237316195423570985008687907853269984665640564039457584007913129639935" },
                   "B": { "balance": "0x10", "nonce": "0x10", "code": "0x6001", "privateKey": 7,
                          "storage": { "0x01": "0x1234", "2": "0", "0x3": "ff" } } } }`);
    expect(spec).toMatchObject({
      chainId: 123456789012345678901234567890n,
      contractSizeLimitBytes: 2147483647,
      evmStackSize: 2048,
      bootnodes: ["enode://a@1.2.3.4:1"],
      ibft: {
        epochLength: 7n,
        requestTimeoutSeconds: 1,
        messageQueueLimit: 5,
        gossipedHistoryLimit: 6,
        duplicateMessageLimit: 7,
        futureMessagesLimit: 0,
        futureMessagesMaxDistance: 9,
        eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 2, blockRewardWei: 16n } }],
      },
    });
    const { header, alloc } = spec.genesis;
    expect(header).toMatchObject({ gasLimit: 2n ** 63n - 1n, difficulty: 1n, timestamp: 1491746n });
    expect([header.nonce, header.mixHash, header.coinbase].map(toHex)).toEqual([
      "0x0000000000000042",
      `0x${"1".padStart(64, "0")}`,
      `0x${"1".padStart(40, "0")}`,
    ]);
    expect(
      alloc.map(({ address, balance, nonce, code }) => [toHex(address), balance, nonce, toHex(code)]),
    ).toEqual([
      [`0x${"a".padStart(40, "0")}`, 2n ** 256n - 1n, 0n, "0x"],
      [`0x${"b".padStart(40, "0")}`, 16n, 16n, "0x6001"],
    ]);
    expect(alloc[1]?.storage.map(({ slot, value }) => [toHex(slot), toHex(value)])).toEqual([
      [`0x${"1".padStart(64, "0")}`, "0x1234"],
      [`0x${"3".padStart(64, "0")}`, "0xff"],
    ]);
  });

  it("has Besu's defaults", () => {
    const { spec, warnings } = reading(aGenesis({ config: { chainId: undefined, ibft2: {} } }));
    expect(spec).toMatchObject({
      chainId: 1n,
      contractSizeLimitBytes: 24576,
      evmStackSize: 1024,
      isZeroBaseFee: false,
      initialBaseFeePerGas: 1_000_000_000n,
      bootnodes: [],
    });
    expect(spec.ibft).toEqual({
      epochLength: 30_000n,
      requestTimeoutSeconds: 1,
      gossipedHistoryLimit: 1000,
      messageQueueLimit: 1000,
      duplicateMessageLimit: 100,
      futureMessagesLimit: 1000,
      futureMessagesMaxDistance: 10,
      eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 1, blockRewardWei: 0n } }],
    });
    expect(warnings).toEqual([
      "config.ibft2.requesttimeoutseconds (1) leaves no time after the block period (1); use at least twice the period.",
    ]);
  });

  it("makes the newest active fork include the earlier ones, by number and by time", () => {
    const { forks } = reading(
      aGenesis({
        config: {
          berlinBlock: undefined,
          petersburgBlock: 5,
          londonBlock: 10,
          shanghaiTime: 1000,
          pragueTime: 2000,
        },
      }),
    ).spec;
    expect(
      [
        [0n, 0n],
        [4n, 0n],
        [5n, 0n],
        [10n, 999n],
        [10n, 1000n],
        [11n, 1999n],
        [11n, 2000n],
      ].map(([number = 0n, time = 0n]) => forkAt(forks, number, time)),
    ).toEqual(["frontier", "frontier", "petersburg", "london", "shanghai", "shanghai", "prague"]);
  });

  it("has a base fee in its header when the file has one or London is active from the start", () => {
    const baseFee = (changes: Changes) => reading(aGenesis(changes)).spec.genesis.header.baseFeePerGas;
    expect(baseFee({})).toBeUndefined();
    expect(baseFee({ config: { londonBlock: 1 } })).toBeUndefined();
    expect(baseFee({ config: { londonBlock: 0, zeroBaseFee: true } })).toBe(1_000_000_000n);
    expect(baseFee({ config: { londonBlock: 0 }, root: { baseFeePerGas: "7" } })).toBe(7n);
    expect(baseFee({ root: { baseFeePerGas: "0x0" } })).toBe(0n);
    const fixed = aGenesis({
      config: { londonBlock: 0, fixedBaseFee: true },
      root: { baseFeePerGas: "0x7" },
    });
    const outcome = readGenesis(fixed, "net.json", { consensus: "ibft2", minGasPriceWei: 5n });
    expect(outcome.ok && outcome.value.spec.fixedBaseFeePerGas).toBe(5n);
    const both = reading(
      aGenesis({ config: { londonBlock: 0, fixedBaseFee: true, zeroBaseFee: true } }),
    ).spec;
    expect([both.isZeroBaseFee, both.fixedBaseFeePerGas]).toEqual([true, undefined]);
  });

  it("changes settings at transitions, each based on the one before; an empty beneficiary clears it", () => {
    const { spec } = reading(
      aGenesis({
        ibft2: { blockreward: "5", miningbeneficiary: VALIDATOR },
        config: {
          transitions: {
            ibft2: [
              { block: 30, miningBeneficiary: "" },
              { block: 10, blockPeriodSeconds: 4 },
              { block: 20, blockReward: "0x9", validators: [`0x${VALIDATOR}`] },
            ],
          },
        },
      }),
    );
    const at = (number: bigint) => {
      const { blockPeriodSeconds, blockRewardWei, miningBeneficiary } = parametersAt(spec.ibft, number);
      return [blockPeriodSeconds, blockRewardWei, miningBeneficiary === undefined ? "proposer" : "fixed"];
    };
    expect([0n, 9n, 10n, 19n, 20n, 29n, 30n, 1000n].map(at)).toEqual([
      [1, 5n, "fixed"],
      [1, 5n, "fixed"],
      [4, 5n, "fixed"],
      [4, 5n, "fixed"],
      [4, 9n, "fixed"],
      [4, 9n, "fixed"],
      [4, 9n, "proposer"],
      [4, 9n, "proposer"],
    ]);
    expect(spec.ibft.eras.map(({ validators }) => validators?.map(toHex))).toEqual([
      undefined,
      undefined,
      [`0x${VALIDATOR}`],
      undefined,
    ]);
  });

  it("warns of settings that are allowed but hardly intended", () => {
    expect(
      reading(aGenesis({ root: { extraData: `0xe9a0${"00".repeat(32)}c0808400000000c0` } })).warnings,
    ).toEqual(["Genesis block contains no signers - chain will not progress."]);
    expect(
      reading(
        aGenesis({ config: { londonBlock: 0, shanghaiTime: 99, transitions: { ibft2: [{ block: 5 }] } } }),
      ).warnings,
    ).toEqual([
      "The genesis file combines forks by time with transitions, which other nodes may apply at different blocks.",
    ]);
  });
});

describe("an invalid genesis file is refused, with key, value and position", () => {
  it.each<[name: string, text: string, cause: string]>([
    ["nothing", "", "a value is expected, not the end of the file at line 1, column 1 of net.json"],
    ["a list", "[]", "the document must be an object but was a list (line 1, column 1 of net.json)"],
    [
      "a comma too many",
      '{\n "alloc": {},\n}',
      "a key in double quotes is expected, not '}' at line 3, column 1 of net.json",
    ],
  ])("%s", (_, text, cause) => {
    expect(refusal(text)).toBe(`Unable to load genesis file. ${cause}`);
  });

  it.each<[Changes, string]>([
    [
      { root: { gasLimit: undefined } },
      "Invalid genesis block configuration, missing value for one of '[gasLimit, gasTarget]'",
    ],
    [
      { root: { difficulty: undefined } },
      "Invalid genesis block configuration, missing value for one of '[difficulty]'",
    ],
    [
      { root: { gasLimit: "lots" } },
      "Invalid genesis block configuration, gasLimit must be a number but was 'lots'",
    ],
    [{ root: { gasLimit: "09" } }, "gasLimit must be a number but was '09'"],
    [{ root: { baseFeePerGas: "0x" } }, "baseFeePerGas must be a number but was '0x'"],
    [
      { root: { gasLimit: "0x8000000000000000" } },
      "gasLimit must be a number of at most 9223372036854775807 but was '0x8000000000000000'",
    ],
    [{ root: { timestamp: -1 } }, "timestamp must be a number of at least 0 but was '-1'"],
    [{ root: { timestamp: 1.5 } }, "timestamp must be a number but was '1.5'"],
    [{ root: { mixHash: `0x${"1".repeat(65)}` } }, "Invalid mixHash in genesis block configuration: "],
    [{ root: { coinbase: 7 } }, "coinbase must be a string but was '7'"],
    [
      { root: { extraData: "0x123" } },
      "Invalid extraData in genesis block configuration: '0x123' is not hexadecimal bytes",
    ],
    [
      { root: { extraData: "0xc0" } },
      "Invalid extraData in genesis block configuration: extra data is a list of five items",
    ],
    [{ root: { config: 5 } }, "config must be an object but was '5'"],
    [{ root: { alloc: [] } }, "alloc must be an object but was a list"],
    [
      { root: { alloc: { zz: {} } } },
      "Invalid alloc.zz in genesis block configuration: 'zz' is not 20 bytes of hexadecimal digits",
    ],
    [{ root: { alloc: { "1": { balance: "much" } } } }, "alloc.1.balance must be a number but was 'much'"],
    [
      { root: { alloc: { "1": { balance: `0x1${"0".repeat(64)}` } } } },
      "alloc.1.balance must be a number of at most ",
    ],
    [
      { root: { alloc: { "1": { code: "0xzz" } } } },
      "Invalid alloc.1.code in genesis block configuration: '0xzz' is not hexadecimal bytes",
    ],
    [
      { root: { alloc: { "1": { storage: { "0x1": "x" } } } } },
      "alloc.1.storage.0x1 must be a number but was 'x'",
    ],
    [{ config: { chainId: "many" } }, "config.chainId must be a number but was 'many'"],
    [{ config: { ecCurve: "secp256r1" } }, "config.ecCurve must be 'secp256k1' but was 'secp256r1'"],
    [{ config: { zeroBaseFee: "yes" } }, "config.zeroBaseFee must be true or false but was 'yes'"],
    [
      { config: { petersburgBlock: 0, constantinopleFixBlock: 0 } },
      "Genesis files cannot specify both petersburgBlock and constantinopleFixBlock",
    ],
    [
      { config: { berlinBlock: 10, londonBlock: 9 } },
      "config.londonBlock (9) comes before config.berlinBlock (10), though it is the later fork",
    ],
    [
      { config: { shanghaiTime: 10, cancunTime: 9 } },
      "config.cancunTime (9) comes before config.shanghaiTime (10), though it is the later fork",
    ],
    [
      { config: { shanghaiTime: 0 } },
      "shanghai is active in the genesis block, so London must be too: config.londonBlock must be 0",
    ],
    [
      { config: { osakaTime: 1767747671 } },
      "config.osakaTime activates the fork 'osaka' at time '1767747671', which this version does not know; the newest fork that it knows is Prague (pragueTime)",
    ],
    [{ config: { bpo1Time: 5 } }, "config.bpo1Time activates the fork 'bpo1' at time '5'"],
    [{ config: { cancunEOFTime: 5 } }, "config.cancunEOFTime activates the fork 'cancunEOF' at time '5'"],
    [{ config: { amsterdamTime: 5 } }, "config.amsterdamTime activates the fork 'amsterdam' at time '5'"],
    [{ config: { daoForkBlock: 5 } }, "config.daoForkBlock: the DAO fork is not supported"],
    [
      { config: { terminalTotalDifficulty: 5 } },
      "config.terminalTotalDifficulty: a move to proof of stake is not supported",
    ],
    [
      { config: { ibft2: undefined, ibft: {} } },
      "config.ibft: IBFT1 (legacy) is no longer supported. Consider using IBFT2",
    ],
    [{ config: { ethash: {} } }, "config.ethash: proof of work is not supported"],
    [{ config: { ibft2: undefined } }, "config has no supported consensus: an ibft2 section is expected"],
    [{ config: { ibft2: [] } }, "config.ibft2 must be an object but was a list"],
    [{ ibft2: { epochlength: 0 } }, "Epoch length in config must be greater than zero"],
    [{ ibft2: { epochlength: -5 } }, "Epoch length in config must be greater than zero"],
    [
      { ibft2: { blockperiodseconds: 0 } },
      "config.ibft2.blockPeriodSeconds must be a number of at least 1 but was '0'",
    ],
    [
      { ibft2: { requesttimeoutseconds: "soon" } },
      "config.ibft2.requestTimeoutSeconds must be a number but was 'soon'",
    ],
    [{ ibft2: { blockreward: "-1" } }, "Bft Block reward in config cannot be negative"],
    [
      { ibft2: { miningbeneficiary: "0x12" } },
      "config.ibft2.miningBeneficiary must be 20 bytes of hexadecimal digits but was '0x12'",
    ],
    [
      { config: { transitions: { ibft2: [{ block: 0 }] } } },
      "Transition cannot be created for genesis block",
    ],
    [
      { config: { transitions: { ibft2: [{ block: 5 }, { block: 5 }] } } },
      "Duplicate transitions cannot be created for the same block",
    ],
    [
      { config: { transitions: { ibft2: [{ blockreward: "1" }] } } },
      "A transition needs the block from which it applies (block)",
    ],
    [
      { config: { transitions: { ibft2: [{ block: 5, validators: [] }] } } },
      "A transition's validators cannot be an empty list",
    ],
    [
      { config: { transitions: { ibft2: { block: 5 } } } },
      "config.transitions.ibft2 must be a list but was an object",
    ],
    [
      { config: { discovery: { bootnodes: "enode" } } },
      "config.discovery.bootnodes must be a list of strings but was 'enode'",
    ],
  ])("%j", (changes, cause) => {
    const message = refusal(aGenesis(changes));
    expect(message).toContain(cause);
    expect(message).toMatch(/^Unable to load genesis file\. .* \(line 1, column \d+ of net\.json\)$/);
  });

  it("never throws, whatever value any key has", () => {
    const keys = [
      "config",
      "alloc",
      "gasLimit",
      "difficulty",
      "nonce",
      "extraData",
      "timestamp",
      "mixHash",
      "baseFeePerGas",
    ];
    const inner = [
      "chainId",
      "ibft2",
      "londonBlock",
      "shanghaiTime",
      "transitions",
      "discovery",
      "zeroBaseFee",
      "ecCurve",
    ];
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...keys), fc.jsonValue(), { maxKeys: 3 }),
        fc.dictionary(fc.constantFrom(...inner), fc.jsonValue(), { maxKeys: 3 }),
        (root, config) => {
          const message = refusal(aGenesis({ root, config }));
          expect(message).toMatch(/^(accepted|Unable to load genesis file\. .*)/s);
        },
      ),
      { numRuns: casesOf(500) },
    );
  });
});
