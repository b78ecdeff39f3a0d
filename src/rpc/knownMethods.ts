/**
 * Every method name of Besu, by prefix. A name in this table that an endpoint does not offer is "not enabled" there, any
 * other is "not found" (json-rpc-errors.md#not-enabled-or-not-found). Besu's own table lacks `debug_accountRange`, so
 * this one does too.
 */
const BESU_METHODS: Readonly<Record<string, string>> = {
  admin: `addPeer nodeInfo peers removePeer changeLogLevel generateLogBloomCache logsRepairCache
    logsRemoveCache`,
  clique: `discard getSigners getSignersAtHash proposals propose getSignerMetrics`,
  debug: `accountAt metrics resyncWorldState setHead replayBlock storageRangeAt traceBlock traceBlockByHash
    traceBlockByNumber standardTraceBlockToFile standardTraceBadBlockToFile traceTransaction traceCall
    batchSendRawTransaction getBadBlocks getRawHeader getRawBlock getRawReceipts getRawTransaction`,
  engine: `getPayloadV1 getPayloadV2 getPayloadV3 getPayloadV4 newPayloadV1 newPayloadV2 newPayloadV3 newPayloadV4
    forkchoiceUpdatedV1 forkchoiceUpdatedV2 forkchoiceUpdatedV3 exchangeTransitionConfigurationV1
    getPayloadBodiesByHashV1 getPayloadBodiesByRangeV1 exchangeCapabilities preparePayload_debug`,
  priv: `call getPrivateTransaction getTransactionCount getPrivacyPrecompileAddress getTransactionReceipt
    createPrivacyGroup deletePrivacyGroup findPrivacyGroup debugGetStateRoot distributeRawTransaction
    getEeaTransactionCount getCode getLogs newFilter uninstallFilter getFilterChanges getFilterLogs
    subscribe unsubscribe`,
  privx: `findOnchainPrivacyGroup findFlexiblePrivacyGroup`,
  eea: `sendRawTransaction`,
  eth: `accounts blockNumber call chainId coinbase estimateGas createAccessList feeHistory gasPrice blobBaseFee
    getBalance getBlockByHash getBlockByNumber getBlockReceipts getBlockTransactionCountByHash
    getBlockTransactionCountByNumber getCode getFilterChanges getFilterLogs getLogs maxPriorityFeePerGas
    getMinerDataByBlockHash getMinerDataByBlockNumber getProof getStorageAt
    getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash
    getTransactionCount getTransactionReceipt getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex
    getUncleCountByBlockHash getUncleCountByBlockNumber getWork hashrate mining newBlockFilter newFilter
    newPendingTransactionFilter protocolVersion sendRawPrivateTransaction sendRawTransaction sendTransaction
    submitHashrate submitWork subscribe syncing uninstallFilter unsubscribe`,
  ibft: `discardValidatorVote getPendingVotes getValidatorsByBlockHash getValidatorsByBlockNumber
    proposeValidatorVote getSignerMetrics`,
  qbft: `discardValidatorVote getPendingVotes getValidatorsByBlockHash getValidatorsByBlockNumber
    proposeValidatorVote getSignerMetrics`,
  miner: `changeTargetGasLimit setCoinbase setEtherbase start stop getMinPriorityFee setMinPriorityFee
    getMinGasPrice setMinGasPrice getExtraData setExtraData`,
  net: `enode listening peerCount services version`,
  perm: `addAccountsToWhitelist addAccountsToAllowlist addNodesToWhitelist addNodesToAllowlist
    getAccountsWhitelist getAccountsAllowlist getNodesWhitelist getNodesAllowlist reloadPermissionsFromFile
    removeAccountsFromWhitelist removeAccountsFromAllowlist removeNodesFromWhitelist
    removeNodesFromAllowlist`,
  rpc: `modules`,
  trace: `block call callMany get filter rawTransaction replayBlockTransactions transaction`,
  txpool: `besuStatistics besuTransactions besuPendingTransactions`,
  web3: `clientVersion sha3`,
  plugins: `reloadPluginConfig`,
};

/** Other names for Besu's methods, used in the networks' own documents. */
const NEUTRAL_ALIASES = [
  "debug_resyncWorldstate",
  "txpool_nodePendingTransactions",
  "txpool_nodeStatistics",
  "txpool_nodeTransactions",
];

/** Methods that Besu does not have, in its groups and ours; docs/differences-from-besu.md has a line for each. */
export const OWN_METHODS = [
  "debug_getModifiedAccountsByHash",
  "debug_getModifiedAccountsByNumber",
  "erigon_getHeaderByNumber",
  "eth_baseFee",
  "eth_capabilities",
  "eth_config",
  "eth_fillTransaction",
  "eth_getHeaderByHash",
  "eth_getHeaderByNumber",
  "eth_getRawTransactionByBlockHashAndIndex",
  "eth_getRawTransactionByBlockNumberAndIndex",
  "eth_getRawTransactionByHash",
  "eth_getStorageValues",
  "eth_sendRawTransactionSync",
  "eth_simulateV1",
  "explorer_getArrivals",
  "explorer_getDays",
  "explorer_getIndexStatus",
  "explorer_getLogsOf",
  "explorer_getNodeStatus",
  "explorer_getPool",
  "explorer_getToken",
  "explorer_getTokenHolders",
  "explorer_getTokenTransfers",
  "explorer_getTokens",
  "explorer_getTokensOf",
  "explorer_getTransactionsOf",
  "explorer_getTransfersOfToken",
  "ibft_getRounds",
  "ibft_status",
  "ots_getApiLevel",
  "ots_getBlockDetails",
  "ots_getBlockDetailsByHash",
  "ots_getBlockTransactions",
  "ots_getContractCreator",
  "ots_getInternalOperations",
  "ots_getTransactionBySenderAndNonce",
  "ots_getTransactionError",
  "ots_hasCode",
  "ots_searchTransactionsAfter",
  "ots_searchTransactionsBefore",
  "ots_traceTransaction",
  "rpc.discover",
  "trace_replayTransaction",
  "txpool_content",
  "txpool_contentFrom",
  "txpool_inspect",
  "txpool_status",
];

/**
 * Methods of the development network alone, which an endpoint without them does not know, as Besu does not;
 * docs/development-network.md has a line for each.
 */
export const DEVELOPMENT_METHODS = [
  "anvil_addBalance",
  "anvil_autoImpersonateAccount",
  "anvil_dealERC20",
  "anvil_dropAllTransactions",
  "anvil_dropTransaction",
  "anvil_dumpState",
  "anvil_getAutomine",
  "anvil_getBlobByHash",
  "anvil_getBlobsByTransactionHash",
  "anvil_getGenesisTime",
  "anvil_getIntervalMining",
  "anvil_impersonateAccount",
  "anvil_impersonateSignature",
  "anvil_increaseTime",
  "anvil_loadState",
  "anvil_metadata",
  "anvil_mine",
  "anvil_mine_detailed",
  "anvil_nodeInfo",
  "anvil_removeBlockTimestampInterval",
  "anvil_removePoolTransactions",
  "anvil_reorg",
  "anvil_reset",
  "anvil_revert",
  "anvil_rollback",
  "anvil_setAutomine",
  "anvil_setBalance",
  "anvil_setBlockGasLimit",
  "anvil_setBlockTimestampInterval",
  "anvil_setChainId",
  "anvil_setCode",
  "anvil_setCoinbase",
  "anvil_setERC20Allowance",
  "anvil_setERC20Balance",
  "anvil_setIntervalMining",
  "anvil_setLoggingEnabled",
  "anvil_setMinGasPrice",
  "anvil_setNextBlockBaseFeePerGas",
  "anvil_setNextBlockTimestamp",
  "anvil_setNonce",
  "anvil_setRpcUrl",
  "anvil_setStorageAt",
  "anvil_setTime",
  "anvil_snapshot",
  "anvil_stopImpersonatingAccount",
  "eth_sign",
  "eth_signTransaction",
  "eth_signTypedData_v4",
  "evm_increaseTime",
  "evm_mine",
  "evm_mine_detailed",
  "evm_revert",
  "evm_setAccountNonce",
  "evm_setAutomine",
  "evm_setBlockGasLimit",
  "evm_setIntervalMining",
  "evm_setNextBlockTimestamp",
  "evm_setTime",
  "evm_snapshot",
  "hardhat_addBalance",
  "hardhat_autoImpersonateAccount",
  "hardhat_dealERC20",
  "hardhat_dropAllTransactions",
  "hardhat_dropTransaction",
  "hardhat_dumpState",
  "hardhat_getAutomine",
  "hardhat_impersonateAccount",
  "hardhat_loadState",
  "hardhat_metadata",
  "hardhat_mine",
  "hardhat_reset",
  "hardhat_setBalance",
  "hardhat_setCode",
  "hardhat_setCoinbase",
  "hardhat_setLoggingEnabled",
  "hardhat_setMinGasPrice",
  "hardhat_setNextBlockBaseFeePerGas",
  "hardhat_setNonce",
  "hardhat_setPrevRandao",
  "hardhat_setStorageAt",
  "hardhat_stopImpersonatingAccount",
  "personal_sign",
  "tenderly_addBalance",
  "tenderly_setBalance",
];

export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  ...Object.entries(BESU_METHODS).flatMap(([prefix, names]) =>
    names.split(/\s+/).map((name) => `${prefix}_${name}`),
  ),
  ...NEUTRAL_ALIASES,
  ...OWN_METHODS,
]);
