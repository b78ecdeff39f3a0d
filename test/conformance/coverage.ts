/**
 * Which vectors are read by which suite here or test elsewhere (its path). Each file belongs to the longest entry that its
 * path begins with; coverage.test.ts checks that there is one, and that it is correct.
 */
export interface Coverage {
  readonly files: string;
  /** Suites and test files. */
  readonly by: readonly string[];
  /** What is not read, and why. */
  readonly open?: string;
}

const NO_PEERS = "needs parts of the peer-to-peer network that are not built yet";
const EXPLANATION = "documentation";

export const COVERAGE: readonly Coverage[] = [
  { files: "README.md", by: [], open: EXPLANATION },
  { files: "state-tests/", by: ["state"] },
  { files: "blockchain-tests/", by: ["blockchain"] },
  { files: "transaction-tests/", by: ["transaction"] },
  { files: "rlp-tests/", by: ["rlp"] },
  { files: "trie-tests/", by: ["trie"] },
  { files: "basic-tests/", by: ["basic"] },
  {
    files: "basic-tests/crypto.json",
    by: [],
    open: "AES and ECIES samples; test/network/rlpx/handshake.test.ts tests whole handshakes",
  },
  { files: "chains-expected.json", by: ["chain", "genesis"] },

  { files: "geth-evm/", by: ["opcode"] },
  { files: "geth-evm/precompiles/", by: ["precompile"] },
  { files: "geth-hivechain/", by: ["chain", "genesis"] },
  { files: "geth-tracers/", by: ["tracer"] },
  ...["call_tracer_legacy", "prestate_tracer_legacy"].map((folder) => ({
    files: `geth-tracers/${folder}/`,
    by: [],
    open: "results of older versions of the tracers",
  })),

  { files: "besu-core/basefee-test.json", by: ["basefee"] },
  { files: "besu-core/eip152-blake2f.json", by: ["precompile"] },
  { files: "besu-core/pointEvaluationPrecompile.json", by: ["precompile"] },
  {
    files: "besu-core/evmtool/",
    by: ["evmtool"],
    open: "the lines of the traces, which recorded trace files cover",
  },
  { files: "besu-core/genesis", by: ["genesis", "test/chainspec/genesisVectors.test.ts"] },
  { files: "besu-core/networks/", by: ["genesis", "test/chainspec/genesisVectors.test.ts"] },
  { files: "besu-core/mainnet-blocks/", by: ["header"] },
  { files: "besu-core/chainimport/", by: ["build"] },
  { files: "besu-core/config/", by: ["test/chainspec/genesisVectors.test.ts"] },
  { files: "besu-core/cli/", by: ["test/config/besuFiles.test.ts", "test/config/toml.test.ts"] },
  { files: "besu-core/profiles/", by: ["test/config/profiles.test.ts"] },
  { files: "besu-core/static-nodes/", by: ["test/config/peerOptions.test.ts"] },
  { files: "besu-core/permissioning/", by: ["test/permissioning/permissions.test.ts"] },
  {
    files: "besu-core/permissioning/TransactionSmartContractPermissioningControllerTest/",
    by: ["test/permissioning/accountContract.test.ts"],
  },
  {
    files: "besu-core/permissioning/NodeSmartContractPermissioningControllerTest/",
    by: ["test/permissioning/nodeContract.test.ts"],
  },

  { files: "besu-jsonrpc/chains/", by: ["chain", "build", "genesis"] },
  { files: "besu-jsonrpc/jsonrpc/", by: ["rpc"] },
  { files: "besu-jsonrpc/jsonrpc/trace/", by: ["trace"] },
  { files: "besu-jsonrpc/jsonrpc/debug/trace-", by: ["trace"] },
  {
    files: "besu-jsonrpc/graphql/",
    by: ["test/rpc/graphql/besuFixtures.test.ts"],
    open: "three answers of mocks, which no chain gives",
  },
  {
    files: "besu-graphql/",
    by: ["test/rpc/graphql/recordedAnswers.test.ts"],
    open: "what the HTTP server answers by itself",
  },
  { files: "besu-acceptance/", by: [], open: "sequences over HTTP, most of them for the engine API" },
  { files: "execution-apis/", by: ["chain", "genesis", "rpc"] },
  { files: "execution-apis-forks/", by: ["chain", "genesis"], open: "the conversations over JSON-RPC" },

  { files: "devp2p/", by: [], open: NO_PEERS },
  { files: "devp2p/rlpx-handshake-", by: ["test/network/rlpx/handshake.test.ts"] },
  { files: "devp2p/rlpx-frame", by: ["test/network/rlpx/frames.test.ts"] },
  { files: "devp2p/hello.json", by: ["test/network/rlpx/hello.test.ts"] },
  { files: "devp2p/snappy/", by: ["test/network/rlpx/snappy.test.ts"] },
  { files: "devp2p/discv4-packets.json", by: ["test/network/discovery/packets.test.ts"] },
  { files: "devp2p/dns-discovery-holesky.json", by: ["test/network/discovery/dnsLists.test.ts"] },
  { files: "devp2p/enr.json", by: ["test/network/discovery/nodeRecord.test.ts"] },
  { files: "devp2p/forkid.json", by: ["test/chainspec/forkId.test.ts"] },

  { files: "ibft2/genesis", by: ["genesis", "test/chainspec/genesisVectors.test.ts"] },
  { files: "ibft2/real-blocks.json", by: ["test/types/header.test.ts", "test/ibft/sealRules.test.ts"] },
  { files: "ibft2/extra-data.json", by: ["test/types/extraData.test.ts"] },
  {
    files: "ibft2/messages-derived.json",
    by: ["test/ibft/codec/encoding.test.ts", "test/ibft/candidate.test.ts"],
  },
  { files: "ibft2/proposer-and-quorum.json", by: ["test/ibft/validatorSet.test.ts"] },
  { files: "ibft2/signature.json", by: ["test/primitives/secp256k1.test.ts"] },
  { files: "ibft2/synthetic-chain/", by: ["ibft", "test/ibft/validatorVotes.test.ts"] },

  {
    files: "besu-ibft/",
    by: [
      "ibft",
      "test/types/block.test.ts",
      "test/ibft/validatorVotes.test.ts",
      "test/rpc/results/results.test.ts",
    ],
  },
  { files: "besu-emptyaccount/", by: ["test/execution/emptyAccounts.test.ts"] },
  { files: "besu-emptyaccount/README.md", by: [], open: EXPLANATION },

  { files: "besu-ibft/README.md", by: [], open: EXPLANATION },
  { files: "besu-ibft/accounts.json", by: ["test/chain/mutatedBlocks.test.ts"] },
  { files: "besu-ibft/contracts/", by: [], open: "sources of the contracts on the recorded chains" },
  { files: "besu-ibft/cli/", by: ["test/cli/smallCommands.test.ts"] },
  ...["net1", "net2", "net3"].map((network) => ({
    files: `besu-ibft/${network}/rpc`,
    by: ["test/rpc/methods/recordedAnswers.test.ts", "test/rpc/server/http.test.ts"],
  })),
  ...["net1", "net2"].flatMap((network) => [
    { files: `besu-ibft/${network}/traces/`, by: ["test/rpc/methods/recordedTraces.test.ts"] },
    { files: `besu-ibft/${network}/standard-trace-files/`, by: ["test/rpc/methods/recordedTraces.test.ts"] },
    { files: `besu-ibft/${network}/wire/`, by: [], open: NO_PEERS },
    { files: `besu-ibft/${network}/wire/ibft-messages.json`, by: ["test/ibft/codec/encoding.test.ts"] },
    {
      files: `besu-ibft/${network}/wire/rlpx-sessions.json`,
      by: ["test/network/rlpx/recordedSessions.test.ts"],
    },
    { files: `besu-ibft/${network}/wire/hello-disconnect.json`, by: ["test/network/rlpx/hello.test.ts"] },
    { files: `besu-ibft/${network}/wire/eth-messages.json`, by: ["test/chainspec/forkId.test.ts"] },
    { files: `besu-ibft/${network}/ws-messages.json`, by: ["test/rpc/subscriptions/subscriptions.test.ts"] },
  ]),
  { files: "besu-ibft/prague-25.4.1/fork-id/", by: ["test/chainspec/forkId.test.ts"] },
];

/** The entry that a file belongs to. */
export function coverageOf(path: string): Coverage | undefined {
  return COVERAGE.filter(({ files }) => path.startsWith(files)).reduce<Coverage | undefined>(
    (best, entry) => (best === undefined || entry.files.length > best.files.length ? entry : best),
    undefined,
  );
}
