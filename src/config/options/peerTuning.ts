import { distancesType } from "../peerTypes.ts";
import {
  countType,
  hostType,
  integerType,
  millisecondsType,
  pathType,
  secondsType,
  switchType,
  textType,
} from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";
import { NOT_BUILT } from "./peerToPeer.ts";

const group = "Peer-to-peer network";
const idle = withoutEffect({ group, noEffect: NOT_BUILT });
const bytesType = integerType({ label: "<BYTES>", unit: "bytes", min: 1n });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

const CONNECTION_OPTIONS = {
  "Xp2p-initiate-connections-frequency": idle.valued(
    secondsType,
    30,
    "Time from one search for peers to the next.",
  ),
  "Xp2p-check-maintained-connections-frequency": idle.valued(
    secondsType,
    60,
    "Time from one call of absent static nodes to the next.",
  ),
  "Xp2p-dns-discovery-server": idle.optional(hostType, "Name server for lists of peers.", {
    defaultText: "the system's",
  }),
  "Xv5-discovery-enabled": idle.switched(false, "Search for peers by discovery version 5."),
  "Xdns-enabled": option({
    group,
    type: switchType,
    default: false,
    isHidden: true,
    help: "Allow host names in enode URLs.",
  }),
  "Xdns-update-enabled": idle.switched(false, "Look those names up again and again."),
  "Xnat-kube-service-name": idle.valued(nameType, "besu", "Kubernetes service that tells the outer address."),
  "Xnat-method-fallback-enabled": idle.switched(true, "Go on without NAT when its method fails."),
  "Xeth-max-message-size": idle.valued(bytesType, 10_485_760, "Most bytes in a message of a peer."),
  "Xewp-max-get-headers": idle.valued(countType, 512, "Most headers in an answer to a peer."),
  "Xewp-max-get-bodies": idle.valued(countType, 128, "Most bodies in an answer to a peer."),
  "Xewp-max-get-receipts": idle.valued(countType, 256, "Most lists of receipts in an answer to a peer."),
  "Xewp-max-get-node-data": idle.valued(countType, 384, "Most trie nodes in an answer to a peer."),
  "Xewp-max-get-pooled-transactions": idle.valued(
    countType,
    256,
    "Most transactions in an answer to a peer.",
  ),
  "Xeth-capability-max": idle.valued(countType, 2 ** 31 - 1, "Highest version of the eth protocol offered.", {
    defaultText: "no limit",
  }),
  "Xeth-capability-min": idle.valued(countType, 0, "Lowest version of the eth protocol offered."),
  "Xincoming-tx-messages-keep-alive-seconds": idle.valued(
    integerType({ label: "<SECONDS>", unit: "seconds" }),
    60,
    "Age at which unread announcements of transactions are dropped.",
  ),
  "Xeth65-tx-announced-buffering-period-milliseconds": idle.valued(
    millisecondsType,
    500,
    "Time to gather announced transactions before asking for them.",
  ),
} as const;

const DOWNLOAD_OPTIONS = {
  "Xsynchronizer-block-propagation-range": idle.valued(
    distancesType,
    "-10..30",
    "Distances from the head at which announced blocks are looked at.",
  ),
  "Xsynchronizer-downloader-change-target-threshold-by-height": idle.valued(
    countType,
    200,
    "Blocks by which another peer must be ahead to follow that one.",
  ),
  "Xsynchronizer-downloader-header-request-size": idle.valued(countType, 200, "Headers asked for at a time."),
  "Xsynchronizer-downloader-chain-segment-size": idle.valued(countType, 200, "Bodies asked for at a time."),
  "Xsynchronizer-downloader-parallelism": idle.valued(countType, 4, "Requests to peers at a time."),
} as const;

const tls = withoutEffect({ group, noEffect: NOT_BUILT, requires: "Xp2p-tls-enabled" });

const TLS_OPTIONS = {
  "Xp2p-tls-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: "connections to peers cannot be encrypted with certificates",
    help: "Encrypt connections to peers with certificates.",
  }),
  "Xp2p-tls-keystore-type": tls.optional(nameType, "Kind of the key store."),
  "Xp2p-tls-keystore-file": tls.optional(pathType, "Key store."),
  "Xp2p-tls-keystore-password-file": tls.optional(pathType, "Password of the key store."),
  "Xp2p-tls-truststore-type": tls.optional(nameType, "Kind of the trust store."),
  "Xp2p-tls-truststore-file": tls.optional(pathType, "Trust store."),
  "Xp2p-tls-truststore-password-file": tls.optional(pathType, "Password of the trust store."),
  "Xp2p-tls-crl-file": tls.optional(pathType, "Certificates that count no more."),
  "Xp2p-tls-clienthello-sni": tls.switched(false, "Name the host when calling."),
} as const;

export const PEER_TUNING_OPTIONS = { ...CONNECTION_OPTIONS, ...DOWNLOAD_OPTIONS, ...TLS_OPTIONS } as const;
