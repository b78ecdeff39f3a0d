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
import { NOT_IMPLEMENTED } from "./peerToPeer.ts";

const group = "Peer-to-peer network";
const noEffect = withoutEffect({ group, noEffect: NOT_IMPLEMENTED });
const bytesType = integerType({ label: "<BYTES>", unit: "bytes", min: 1n });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

const CONNECTION_OPTIONS = {
  "Xp2p-initiate-connections-frequency": noEffect.valued(secondsType, 30, "Time between two peer searches."),
  "Xp2p-check-maintained-connections-frequency": noEffect.valued(
    secondsType,
    60,
    "Time between two attempts to dial absent static nodes.",
  ),
  "Xp2p-dns-discovery-server": option({
    group,
    type: hostType,
    default: undefined,
    defaultText: "the system's",
    isHidden: true,
    help: "Name server for lists of nodes in DNS.",
  }),
  "Xv5-discovery-enabled": noEffect.switched(false, "Search for peers by discovery version 5."),
  "Xdns-enabled": option({
    group,
    type: switchType,
    default: false,
    isHidden: true,
    help: "Allow host names in enode URLs.",
  }),
  "Xdns-update-enabled": option({
    group,
    type: switchType,
    default: false,
    isHidden: true,
    help: "Accept names that cannot be resolved yet. This node always resolves names repeatedly.",
  }),
  "Xnat-kube-service-name": noEffect.valued(
    nameType,
    "besu",
    "Kubernetes service that provides the external address.",
  ),
  "Xnat-method-fallback-enabled": option({
    group,
    type: switchType,
    default: true,
    isHidden: true,
    help: "Continue without NAT when its method fails.",
  }),
  "Xeth-max-message-size": noEffect.valued(bytesType, 10_485_760, "Size limit of a peer's message."),
  "Xewp-max-get-headers": noEffect.valued(
    countType,
    512,
    "Largest number of headers in a response to a peer.",
  ),
  "Xewp-max-get-bodies": noEffect.valued(countType, 128, "Largest number of bodies in a response to a peer."),
  "Xewp-max-get-receipts": noEffect.valued(
    countType,
    256,
    "Largest number of receipt lists in a response to a peer.",
  ),
  "Xewp-max-get-node-data": noEffect.valued(
    countType,
    384,
    "Largest number of trie nodes in a response to a peer.",
  ),
  "Xewp-max-get-pooled-transactions": noEffect.valued(
    countType,
    256,
    "Largest number of transactions in a response to a peer.",
  ),
  "Xeth-capability-max": noEffect.valued(
    countType,
    2 ** 31 - 1,
    "Highest version of the eth protocol offered.",
    {
      defaultText: "no limit",
    },
  ),
  "Xeth-capability-min": noEffect.valued(countType, 0, "Lowest version of the eth protocol offered."),
  "Xincoming-tx-messages-keep-alive-seconds": noEffect.valued(
    integerType({ label: "<SECONDS>", unit: "seconds" }),
    60,
    "Age at which unread announcements of transactions are dropped.",
  ),
  "Xeth65-tx-announced-buffering-period-milliseconds": noEffect.valued(
    millisecondsType,
    500,
    "Time to gather announced transactions before asking for them.",
  ),
} as const;

const DOWNLOAD_OPTIONS = {
  "Xsynchronizer-block-propagation-range": noEffect.valued(
    distancesType,
    "-10..30",
    "Distances from the head at which announced blocks are considered.",
  ),
  "Xsynchronizer-downloader-change-target-threshold-by-height": noEffect.valued(
    countType,
    200,
    "Lead in blocks that another peer needs to become the sync target.",
  ),
  "Xsynchronizer-downloader-header-request-size": noEffect.valued(countType, 200, "Headers per request."),
  "Xsynchronizer-downloader-chain-segment-size": noEffect.valued(countType, 200, "Bodies per request."),
  "Xsynchronizer-downloader-parallelism": noEffect.valued(countType, 4, "Concurrent requests to peers."),
} as const;

const tls = withoutEffect({ group, noEffect: NOT_IMPLEMENTED, requires: "Xp2p-tls-enabled" });

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
  "Xp2p-tls-crl-file": tls.optional(pathType, "Revoked certificates."),
  "Xp2p-tls-clienthello-sni": tls.switched(false, "Send the host name when dialling (SNI)."),
} as const;

export const PEER_TUNING_OPTIONS = { ...CONNECTION_OPTIONS, ...DOWNLOAD_OPTIONS, ...TLS_OPTIONS } as const;
