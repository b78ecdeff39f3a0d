import type { RpcMethod } from "../method.ts";
import { devAccounts } from "./accounts/accounts.ts";
import { devSendTransaction, devSignTransaction } from "./accounts/sendTransaction.ts";
import { devPersonalSign, devSign, devSignTypedData } from "./accounts/sign.ts";
import { adminChangeLogLevel } from "./admin/changeLogLevel.ts";
import { adminGenerateLogBloomCache, adminLogsRemoveCache, adminLogsRepairCache } from "./admin/logIndex.ts";
import { adminNodeInfo } from "./admin/nodeInfo.ts";
import { adminAddPeer, adminPeers, adminRemovePeer } from "./admin/peers.ts";
import { anvilDumpState, anvilLoadState } from "./anvil/dump.ts";
import {
  anvilDropAllTransactions,
  anvilDropTransaction,
  anvilGetIntervalMining,
  anvilMine,
  anvilMineDetailed,
  anvilRemovePoolTransactions,
  anvilSetAutomine,
  anvilSetIntervalMining,
  anvilSetNextBlockBaseFeePerGas,
} from "./anvil/mining.ts";
import {
  anvilGetBlob,
  anvilGetGenesisTime,
  anvilImpersonateSignature,
  anvilSetChainId,
  anvilSetLoggingEnabled,
  anvilSetRpcUrl,
  hardhatSetLoggingEnabled,
  hardhatSetMinGasPrice,
} from "./anvil/node.ts";
import { anvilReorg, anvilRollback } from "./anvil/reorganisation.ts";
import {
  anvilRemoveBlockTimestampInterval,
  anvilSetBlockTimestampInterval,
  anvilSetNextBlockTimestamp,
} from "./anvil/time.ts";
import { anvilDealErc20, anvilSetErc20Allowance } from "./anvil/tokens.ts";
import { debugBatchSendRawTransaction } from "./debug/batchSendRawTransaction.ts";
import { debugGetBadBlocks } from "./debug/getBadBlocks.ts";
import {
  debugGetModifiedAccountsByHash,
  debugGetModifiedAccountsByNumber,
} from "./debug/getModifiedAccounts.ts";
import { debugReplayBlock, debugResyncWorldState, debugSetHead } from "./debug/history.ts";
import { debugMetrics } from "./debug/metrics.ts";
import {
  debugGetRawBlock,
  debugGetRawHeader,
  debugGetRawReceipts,
  debugGetRawTransaction,
} from "./debug/raw.ts";
import { debugStandardTraceBadBlockToFile, debugStandardTraceBlockToFile } from "./debug/standardTrace.ts";
import { debugAccountAt, debugAccountRange, debugStorageRangeAt } from "./debug/stateRanges.ts";
import { debugTraceBlock, debugTraceBlockByHash, debugTraceBlockByNumber } from "./debug/traceBlock.ts";
import { debugTraceCall } from "./debug/traceCall.ts";
import { debugTraceTransaction } from "./debug/traceTransaction.ts";
import { ethCall } from "./eth/call.ts";
import { ethCapabilities } from "./eth/capabilities.ts";
import { ethBlockNumber, ethChainId, ethProtocolVersion, ethSyncing } from "./eth/chain.ts";
import { ethConfig } from "./eth/config.ts";
import { ethCreateAccessList } from "./eth/createAccessList.ts";
import { ethEstimateGas } from "./eth/estimateGas.ts";
import { ethFeeHistory } from "./eth/feeHistory.ts";
import { ethFillTransaction } from "./eth/fillTransaction.ts";
import {
  ethGetFilterChanges,
  ethGetFilterLogs,
  ethNewBlockFilter,
  ethNewFilter,
  ethNewPendingTransactionFilter,
  ethUninstallFilter,
} from "./eth/filters.ts";
import { ethBaseFee, ethBlobBaseFee, ethGasPrice, ethMaxPriorityFeePerGas } from "./eth/gasPrice.ts";
import { ethGetBalance } from "./eth/getBalance.ts";
import { ethGetBlockByHash, ethGetBlockByNumber } from "./eth/getBlock.ts";
import { ethGetBlockReceipts } from "./eth/getBlockReceipts.ts";
import {
  ethGetBlockTransactionCountByHash,
  ethGetBlockTransactionCountByNumber,
} from "./eth/getBlockTransactionCount.ts";
import { ethGetCode } from "./eth/getCode.ts";
import { ethGetHeaderByHash, ethGetHeaderByNumber } from "./eth/getHeader.ts";
import { ethGetLogs } from "./eth/getLogs.ts";
import { ethGetMinerDataByBlockHash, ethGetMinerDataByBlockNumber } from "./eth/getMinerData.ts";
import { ethGetProof } from "./eth/getProof.ts";
import {
  ethGetRawTransactionByBlockHashAndIndex,
  ethGetRawTransactionByBlockNumberAndIndex,
} from "./eth/getRawTransaction.ts";
import { ethGetStorageAt } from "./eth/getStorageAt.ts";
import { ethGetStorageValues } from "./eth/getStorageValues.ts";
import { ethGetRawTransactionByHash, ethGetTransactionByHash } from "./eth/getTransactionByHash.ts";
import {
  ethGetTransactionByBlockHashAndIndex,
  ethGetTransactionByBlockNumberAndIndex,
} from "./eth/getTransactionByIndex.ts";
import { ethGetTransactionCount } from "./eth/getTransactionCount.ts";
import { ethGetTransactionReceipt } from "./eth/getTransactionReceipt.ts";
import {
  ethGetUncleByBlockHashAndIndex,
  ethGetUncleByBlockNumberAndIndex,
  ethGetUncleCountByBlockHash,
  ethGetUncleCountByBlockNumber,
} from "./eth/getUncle.ts";
import {
  ethAccounts,
  ethCoinbase,
  ethGetWork,
  ethHashrate,
  ethMining,
  ethSubmitHashrate,
  ethSubmitWork,
} from "./eth/mining.ts";
import { ethSendRawTransaction } from "./eth/sendRawTransaction.ts";
import { ethSendRawTransactionSync } from "./eth/sendRawTransactionSync.ts";
import { ethSendTransaction } from "./eth/sendTransaction.ts";
import { ethSimulateV1 } from "./eth/simulateV1.ts";
import { evmMine, evmSetAutomine, evmSetBlockGasLimit, evmSetIntervalMining } from "./evm/mine.ts";
import { anvilReset, evmRevert, evmSnapshot, hardhatReset } from "./evm/snapshot.ts";
import { anvilIncreaseTime, evmIncreaseTime, evmSetNextBlockTimestamp, evmSetTime } from "./evm/time.ts";
import { explorerGetArrivals } from "./explorer/getArrivals.ts";
import { explorerGetDays } from "./explorer/getDays.ts";
import { explorerGetIndexStatus } from "./explorer/getIndexStatus.ts";
import { explorerGetLogsOf } from "./explorer/getLogsOf.ts";
import { explorerGetNodeStatus } from "./explorer/getNodeStatus.ts";
import { explorerGetPool } from "./explorer/getPool.ts";
import { explorerGetToken } from "./explorer/getToken.ts";
import { explorerGetTokens } from "./explorer/getTokens.ts";
import { explorerGetTransactionsOf } from "./explorer/getTransactionsOf.ts";
import { explorerGetTokenHolders, explorerGetTokensOf } from "./explorer/holdings.ts";
import { explorerGetTokenTransfers, explorerGetTransfersOfToken } from "./explorer/tokenTransfers.ts";
import {
  anvilAddBalance,
  anvilSetBalance,
  anvilSetCode,
  anvilSetNonce,
  hardhatSetBalance,
  hardhatSetCode,
  hardhatSetNonce,
  hardhatSetStorageAt,
} from "./hardhat/alterations.ts";
import { devCall, devCreateAccessList, devEstimateGas, devFillTransaction } from "./hardhat/calls.ts";
import {
  anvilAutoImpersonateAccount,
  anvilImpersonateAccount,
  anvilStopImpersonatingAccount,
  hardhatImpersonateAccount,
  hardhatStopImpersonatingAccount,
} from "./hardhat/impersonation.ts";
import { anvilNodeInfo, devClientVersion, hardhatMetadata } from "./hardhat/metadata.ts";
import {
  hardhatDropTransaction,
  hardhatGetAutomine,
  hardhatMine,
  hardhatSetCoinbase,
  hardhatSetNextBlockBaseFeePerGas,
  hardhatSetPrevRandao,
} from "./hardhat/mining.ts";
import { ibftGetRounds } from "./ibft/getRounds.ts";
import { ibftGetSignerMetrics } from "./ibft/getSignerMetrics.ts";
import { ibftGetValidatorsByBlockHash, ibftGetValidatorsByBlockNumber } from "./ibft/getValidators.ts";
import { ibftStatus } from "./ibft/status.ts";
import { ibftDiscardValidatorVote, ibftGetPendingVotes, ibftProposeValidatorVote } from "./ibft/votes.ts";
import { minerChangeTargetGasLimit, minerSetCoinbase, minerStart, minerStop } from "./miner/mining.ts";
import {
  minerGetExtraData,
  minerGetMinGasPrice,
  minerGetMinPriorityFee,
  minerSetExtraData,
  minerSetMinGasPrice,
  minerSetMinPriorityFee,
} from "./miner/settings.ts";
import { netEnode, netListening, netPeerCount, netServices, netVersion } from "./net/network.ts";
import { otsGetBlockDetails, otsGetBlockDetailsByHash, otsGetBlockTransactions } from "./ots/blocks.ts";
import { erigonGetHeaderByNumber, otsGetApiLevel, otsHasCode } from "./ots/facts.ts";
import { otsGetContractCreator, otsGetTransactionBySenderAndNonce } from "./ots/lookups.ts";
import { otsSearchTransactionsAfter, otsSearchTransactionsBefore } from "./ots/search.ts";
import { otsGetInternalOperations, otsGetTransactionError, otsTraceTransaction } from "./ots/traces.ts";
import {
  permAddAccounts,
  permAddNodes,
  permGetAccounts,
  permGetNodes,
  permReload,
  permRemoveAccounts,
  permRemoveNodes,
} from "./perm/allowlists.ts";
import { pluginsReloadPluginConfig } from "./plugins/reloadPluginConfig.ts";
import { rpcDiscover } from "./rpc/discover.ts";
import { rpcModules } from "./rpc/modules.ts";
import { traceBlock } from "./trace/block.ts";
import { traceCall, traceCallMany, traceRawTransaction } from "./trace/call.ts";
import { traceFilter } from "./trace/filter.ts";
import { traceReplayBlockTransactions } from "./trace/replayBlockTransactions.ts";
import { traceReplayTransaction } from "./trace/replayTransaction.ts";
import { traceGet, traceTransaction } from "./trace/transaction.ts";
import { txpoolContent, txpoolContentFrom, txpoolInspect, txpoolStatus } from "./txpool/content.ts";
import { txpoolPendingTransactions, txpoolStatistics, txpoolTransactions } from "./txpool/transactions.ts";
import { web3ClientVersion, web3Sha3 } from "./web3/web3.ts";

/**
 * Every method that is available over HTTP, WebSocket and IPC; the latter two add subscriptions, which need a
 * connection. A new method is data in a file of its own, registered by its line here.
 */
export const METHODS: readonly RpcMethod[] = [
  adminAddPeer,
  adminChangeLogLevel,
  adminGenerateLogBloomCache,
  adminLogsRemoveCache,
  adminLogsRepairCache,
  adminNodeInfo,
  adminPeers,
  adminRemovePeer,
  debugAccountAt,
  debugAccountRange,
  debugBatchSendRawTransaction,
  debugGetBadBlocks,
  debugGetModifiedAccountsByHash,
  debugGetModifiedAccountsByNumber,
  debugGetRawBlock,
  debugGetRawHeader,
  debugGetRawReceipts,
  debugGetRawTransaction,
  debugMetrics,
  debugReplayBlock,
  debugResyncWorldState,
  debugSetHead,
  debugStandardTraceBadBlockToFile,
  debugStandardTraceBlockToFile,
  debugStorageRangeAt,
  debugTraceBlock,
  debugTraceBlockByHash,
  debugTraceBlockByNumber,
  debugTraceCall,
  debugTraceTransaction,
  ethAccounts,
  ethBaseFee,
  ethBlobBaseFee,
  ethBlockNumber,
  ethCall,
  ethCapabilities,
  ethChainId,
  ethCoinbase,
  ethConfig,
  ethCreateAccessList,
  ethEstimateGas,
  ethFeeHistory,
  ethFillTransaction,
  ethGasPrice,
  ethGetBalance,
  ethGetBlockByHash,
  ethGetBlockByNumber,
  ethGetBlockReceipts,
  ethGetBlockTransactionCountByHash,
  ethGetBlockTransactionCountByNumber,
  ethGetCode,
  ethGetFilterChanges,
  ethGetFilterLogs,
  ethGetHeaderByHash,
  ethGetHeaderByNumber,
  ethGetLogs,
  ethGetMinerDataByBlockHash,
  ethGetMinerDataByBlockNumber,
  ethGetProof,
  ethGetRawTransactionByBlockHashAndIndex,
  ethGetRawTransactionByBlockNumberAndIndex,
  ethGetRawTransactionByHash,
  ethGetStorageAt,
  ethGetStorageValues,
  ethGetTransactionByBlockHashAndIndex,
  ethGetTransactionByBlockNumberAndIndex,
  ethGetTransactionByHash,
  ethGetTransactionCount,
  ethGetTransactionReceipt,
  ethGetUncleByBlockHashAndIndex,
  ethGetUncleByBlockNumberAndIndex,
  ethGetUncleCountByBlockHash,
  ethGetUncleCountByBlockNumber,
  ethGetWork,
  ethHashrate,
  ethMaxPriorityFeePerGas,
  ethMining,
  ethNewBlockFilter,
  ethNewFilter,
  ethNewPendingTransactionFilter,
  ethProtocolVersion,
  ethSendRawTransaction,
  ethSendRawTransactionSync,
  ethSendTransaction,
  ethSimulateV1,
  ethSubmitHashrate,
  ethSubmitWork,
  ethSyncing,
  ethUninstallFilter,
  ibftDiscardValidatorVote,
  ibftGetPendingVotes,
  ibftGetRounds,
  ibftGetSignerMetrics,
  ibftGetValidatorsByBlockHash,
  ibftGetValidatorsByBlockNumber,
  ibftProposeValidatorVote,
  ibftStatus,
  minerChangeTargetGasLimit,
  minerGetExtraData,
  minerGetMinGasPrice,
  minerGetMinPriorityFee,
  minerSetCoinbase,
  minerSetExtraData,
  minerSetMinGasPrice,
  minerSetMinPriorityFee,
  minerStart,
  minerStop,
  netEnode,
  netListening,
  netPeerCount,
  netServices,
  netVersion,
  permAddAccounts,
  permAddNodes,
  permGetAccounts,
  permGetNodes,
  permReload,
  permRemoveAccounts,
  permRemoveNodes,
  pluginsReloadPluginConfig,
  rpcDiscover,
  rpcModules,
  txpoolContent,
  txpoolContentFrom,
  txpoolInspect,
  traceBlock,
  traceCall,
  traceCallMany,
  traceFilter,
  traceGet,
  traceRawTransaction,
  traceReplayBlockTransactions,
  traceReplayTransaction,
  traceTransaction,
  txpoolPendingTransactions,
  txpoolStatistics,
  txpoolStatus,
  txpoolTransactions,
  web3ClientVersion,
  web3Sha3,
  explorerGetIndexStatus,
  explorerGetNodeStatus,
  explorerGetArrivals,
  explorerGetPool,
  explorerGetDays,
  explorerGetTokens,
  explorerGetToken,
  explorerGetTransactionsOf,
  explorerGetLogsOf,
  explorerGetTokenHolders,
  explorerGetTokensOf,
  explorerGetTokenTransfers,
  explorerGetTransfersOfToken,
  otsGetBlockDetails,
  otsGetBlockDetailsByHash,
  otsGetBlockTransactions,
  erigonGetHeaderByNumber,
  otsGetApiLevel,
  otsHasCode,
  otsGetContractCreator,
  otsGetTransactionBySenderAndNonce,
  otsSearchTransactionsAfter,
  otsSearchTransactionsBefore,
  otsGetInternalOperations,
  otsGetTransactionError,
  otsTraceTransaction,
  anvilDropAllTransactions,
  anvilDropTransaction,
  anvilIncreaseTime,
  anvilMine,
  anvilMineDetailed,
  anvilGetIntervalMining,
  anvilRemovePoolTransactions,
  anvilRollback,
  anvilReorg,
  anvilDealErc20,
  anvilSetErc20Allowance,
  anvilSetLoggingEnabled,
  hardhatSetLoggingEnabled,
  anvilGetGenesisTime,
  anvilGetBlob,
  anvilSetRpcUrl,
  anvilSetChainId,
  hardhatSetMinGasPrice,
  anvilDumpState,
  anvilLoadState,
  anvilImpersonateSignature,
  anvilRemoveBlockTimestampInterval,
  anvilReset,
  anvilSetAutomine,
  anvilSetBlockTimestampInterval,
  anvilSetIntervalMining,
  anvilSetNextBlockBaseFeePerGas,
  anvilSetNextBlockTimestamp,
  evmIncreaseTime,
  evmMine,
  evmRevert,
  evmSetAutomine,
  evmSetBlockGasLimit,
  evmSetIntervalMining,
  evmSetNextBlockTimestamp,
  evmSetTime,
  evmSnapshot,
  hardhatDropTransaction,
  hardhatGetAutomine,
  hardhatMine,
  hardhatReset,
  hardhatSetCoinbase,
  hardhatSetNextBlockBaseFeePerGas,
  hardhatSetPrevRandao,
  devCall,
  devCreateAccessList,
  devEstimateGas,
  devFillTransaction,
  devAccounts,
  devSendTransaction,
  devSignTransaction,
  devPersonalSign,
  devSign,
  devSignTypedData,
  anvilAddBalance,
  anvilSetBalance,
  anvilSetCode,
  anvilSetNonce,
  hardhatSetBalance,
  hardhatSetCode,
  hardhatSetNonce,
  hardhatSetStorageAt,
  anvilAutoImpersonateAccount,
  anvilImpersonateAccount,
  anvilStopImpersonatingAccount,
  hardhatImpersonateAccount,
  hardhatStopImpersonatingAccount,
  anvilNodeInfo,
  devClientVersion,
  hardhatMetadata,
];
