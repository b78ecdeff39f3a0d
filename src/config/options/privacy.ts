import { pathType, switchType, textType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Privacy";
const NO_PRIVACY = "private transactions are not supported: they would be visible to everyone";
const privacy = withoutEffect({
  group,
  noEffect: "private transactions are not supported",
  requires: "privacy-enabled",
});
const tls = withoutEffect({
  group,
  noEffect: "private transactions are not supported",
  requires: "privacy-tls-enabled",
});
const pki = withoutEffect({ group, noEffect: "blocks signed with certificates belong to QBFT" });
const urlType = textType({ label: "<URL>", accepts: "a URL" });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

export const PRIVACY_OPTIONS = {
  "privacy-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: NO_PRIVACY,
    help: "Private transactions, through an enclave service.",
  }),
  "privacy-url": privacy.valued(urlType, "http://localhost:8888", "Address of that service."),
  "privacy-public-key-file": privacy.optional(pathType, "Public key of this node at that service."),
  "privacy-marker-transaction-signing-key-file": privacy.optional(
    pathType,
    "Key that signs privacy marker transactions.",
  ),
  "privacy-multi-tenancy-enabled": privacy.switched(false, "Serve several tenants."),
  "privacy-flexible-groups-enabled": privacy.switched(false, "Privacy groups whose members can change."),
  "privacy-enable-database-migration": privacy.switched(false, "Convert an old database."),
  "privacy-tls-enabled": privacy.switched(false, "Encrypt the connection to that service."),
  "privacy-tls-keystore-file": tls.optional(pathType, "Key store for that connection."),
  "privacy-tls-keystore-password-file": tls.optional(pathType, "Password of the key store."),
  "privacy-tls-known-enclave-file": tls.optional(pathType, "Fingerprint of the service."),
  "Xprivacy-plugin-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: NO_PRIVACY,
    help: "Private transactions through a plugin.",
  }),
  "Xpki-block-creation-enabled": pki.switched(false, "Sign blocks with a certificate."),
  "Xpki-block-creation-keystore-type": pki.valued(nameType, "PKCS12", "Type of the key store."),
  "Xpki-block-creation-keystore-file": pki.optional(pathType, "Key store."),
  "Xpki-block-creation-keystore-password-file": pki.optional(pathType, "Password of the key store."),
  "Xpki-block-creation-keystore-certificate-alias": pki.valued(
    nameType,
    "validator",
    "Name of the certificate.",
  ),
  "Xpki-block-creation-truststore-type": pki.valued(nameType, "PKCS12", "Type of the trust store."),
  "Xpki-block-creation-truststore-file": pki.optional(pathType, "Trust store."),
  "Xpki-block-creation-truststore-password-file": pki.optional(pathType, "Password of the trust store."),
  "Xpki-block-creation-crl-file": pki.optional(pathType, "Revoked certificates."),
} as const;
