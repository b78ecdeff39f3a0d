// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IssuedToken} from "./IssuedToken.sol";

/// One end of a bridge between two chains; the same contract stands at the other end.
///
///     send on one chain          -> event Sent -> validators sign the passage as typed data (EIP-712)
///     deliver on the other chain <- a threshold of their signatures, brought by anybody
///
/// A passage is delivered once: its nonce is spent. The fee stays where the passage was sent. It rounds up, so that no
/// sequence of small amounts avoids it.
contract Bridge is Ownable, Pausable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// How an asset of this chain comes and goes.
    enum Kind {
        None,
        /// A token that is held here while its counterpart is in use.
        Locked,
        /// A token that this contract issues for what is locked at the other end, and burns.
        Minted,
        /// The native coin, which no contract can issue: it is paid from a reserve, and returns there.
        Native
    }

    struct Pair {
        address counterpart;
        Kind kind;
        /// The most that is delivered in one day (UTC); the rest waits for the next.
        uint256 dailyLimit;
    }

    /// What validators sign.
    struct Passage {
        uint256 sourceChain;
        address sourceBridge;
        uint256 nonce;
        address sourceToken;
        address token;
        address recipient;
        uint256 amount;
    }

    /// Stands for the native coin where a token is named.
    address public constant NATIVE = address(0);
    uint256 public constant FEE_BPS = 50;
    uint256 private constant ALL_BPS = 10_000;
    uint256 private constant MOST_VALIDATORS = 64;

    bytes32 private constant PASSAGE_TYPEHASH = keccak256(
        "Passage(uint256 sourceChain,address sourceBridge,uint256 nonce,address sourceToken,address token,address recipient,uint256 amount)"
    );
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    uint256 public immutable remoteChain;
    address public remoteBridge;

    mapping(address token => Pair) public pairs;
    /// What is here for the other end: locked tokens, or the reserve of native coins. Fees are not part of it.
    mapping(address token => uint256) public held;
    mapping(address token => uint256) public fees;
    mapping(address token => mapping(uint256 day => uint256)) public deliveredOn;
    mapping(uint256 nonce => bool) public isDelivered;
    uint256 public nextNonce;

    address[] private _validators;
    mapping(address account => bool) public isValidator;
    uint256 public threshold;

    event Sent(
        uint256 indexed nonce,
        address indexed token,
        address indexed sender,
        address recipient,
        uint256 amount,
        uint256 fee
    );
    event Delivered(uint256 indexed nonce, address indexed token, address indexed recipient, uint256 amount);
    event Funded(address indexed token, uint256 amount);
    event FeesWithdrawn(address indexed token, address indexed to, uint256 amount);
    event ValidatorsChanged(address[] validators, uint256 threshold);
    event PairAdded(address indexed token, address indexed counterpart, Kind kind, uint256 dailyLimit);

    error UnknownPair(address token);
    error PairExists(address token);
    error UnknownSource(uint256 chain, address bridge);
    error RemoteAlreadySet(address remoteBridge);
    error InvalidThreshold(uint256 threshold, uint256 validators);
    error DuplicateValidator(address validator);
    error WrongValue(uint256 sent, uint256 expected);
    error WrongReceipt(uint256 received, uint256 expected);
    error ZeroRecipient();
    error AmountTooSmall(uint256 amount);
    error AlreadyDelivered(uint256 nonce);
    error TooFewSignatures(uint256 given, uint256 needed);
    error NotValidator(address signer);
    error SignersNotAscending(address previous, address next);
    error DailyLimitExceeded(address token, uint256 amount, uint256 available);
    error ReserveTooSmall(address token, uint256 amount, uint256 available);

    constructor(uint256 remoteChain_, address[] memory validators_, uint256 threshold_) Ownable(msg.sender) {
        remoteChain = remoteChain_;
        _setValidators(validators_, threshold_);
    }

    /// Takes `amount` of a token, which the sender has approved, or of the native coin, for `recipient` at the other end.
    function send(address token, uint256 amount, address recipient)
        external
        payable
        whenNotPaused
        nonReentrant
        returns (uint256 nonce)
    {
        Kind kind = pairs[token].kind;
        if (kind == Kind.None) revert UnknownPair(token);
        if (recipient == address(0)) revert ZeroRecipient();
        uint256 fee = feeOf(amount);
        if (amount <= fee) revert AmountTooSmall(amount);
        uint256 passing = amount - fee;

        nonce = nextNonce++;
        fees[token] += fee;
        if (kind != Kind.Minted) held[token] += passing;
        emit Sent(nonce, token, msg.sender, recipient, passing, fee);

        _take(token, amount);
        if (kind == Kind.Minted) IssuedToken(token).burn(passing);
    }

    /// Pays out a passage of the other end, proved by a threshold of signatures in ascending order of their signers.
    function deliver(Passage calldata passage, bytes[] calldata signatures) external whenNotPaused nonReentrant {
        (address token, uint256 amount) = (passage.token, passage.amount);
        if (passage.sourceChain != remoteChain || passage.sourceBridge != remoteBridge || remoteBridge == address(0)) {
            revert UnknownSource(passage.sourceChain, passage.sourceBridge);
        }
        Pair storage pair = pairs[token];
        if (pair.kind == Kind.None || pair.counterpart != passage.sourceToken) revert UnknownPair(token);
        if (isDelivered[passage.nonce]) revert AlreadyDelivered(passage.nonce);
        _checkSignatures(proofDigest(passage), signatures);

        isDelivered[passage.nonce] = true;
        _countTowardsLimit(token, amount, pair.dailyLimit);
        if (pair.kind != Kind.Minted) {
            uint256 available = held[token];
            if (amount > available) revert ReserveTooSmall(token, amount, available);
            held[token] = available - amount;
        }
        emit Delivered(passage.nonce, token, passage.recipient, amount);

        if (pair.kind == Kind.Minted) IssuedToken(token).mint(passage.recipient, amount);
        else _give(token, passage.recipient, amount);
    }

    /// Adds to what is held here, such as the reserve of native coins.
    function fund(address token, uint256 amount) external payable nonReentrant {
        Kind kind = pairs[token].kind;
        if (kind == Kind.None || kind == Kind.Minted) revert UnknownPair(token);
        held[token] += amount;
        emit Funded(token, amount);
        _take(token, amount);
    }

    function withdrawFees(address token, address to) external onlyOwner nonReentrant {
        uint256 amount = fees[token];
        fees[token] = 0;
        emit FeesWithdrawn(token, to, amount);
        _give(token, to, amount);
    }

    /// Names the other end, once: nonces are counted for one source alone.
    function setRemoteBridge(address bridge) external onlyOwner {
        if (remoteBridge != address(0)) revert RemoteAlreadySet(remoteBridge);
        remoteBridge = bridge;
    }

    function addPair(address token, address counterpart, Kind kind, uint256 dailyLimit) external onlyOwner {
        if (pairs[token].kind != Kind.None) revert PairExists(token);
        if (kind == Kind.None || (kind == Kind.Native) != (token == NATIVE)) revert UnknownPair(token);
        pairs[token] = Pair(counterpart, kind, dailyLimit);
        emit PairAdded(token, counterpart, kind, dailyLimit);
    }

    function setValidators(address[] calldata validators_, uint256 threshold_) external onlyOwner {
        _setValidators(validators_, threshold_);
    }

    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function validators() external view returns (address[] memory) {
        return _validators;
    }

    /// What may still be delivered today.
    function availableToday(address token) external view returns (uint256) {
        return pairs[token].dailyLimit - deliveredOn[token][block.timestamp / 1 days];
    }

    function feeOf(uint256 amount) public pure returns (uint256) {
        return Math.mulDiv(amount, FEE_BPS, ALL_BPS, Math.Rounding.Ceil);
    }

    /// What validators sign; it names this chain and this contract, so that no other accepts the same signatures.
    function proofDigest(Passage calldata passage) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256("Bridge"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(PASSAGE_TYPEHASH, passage))));
    }

    function _checkSignatures(bytes32 digest, bytes[] calldata signatures) private view {
        if (signatures.length < threshold) revert TooFewSignatures(signatures.length, threshold);
        address previous;
        for (uint256 i = 0; i < signatures.length; i++) {
            address signer = ECDSA.recover(digest, signatures[i]);
            if (!isValidator[signer]) revert NotValidator(signer);
            if (signer <= previous) revert SignersNotAscending(previous, signer);
            previous = signer;
        }
    }

    function _countTowardsLimit(address token, uint256 amount, uint256 limit) private {
        uint256 today = block.timestamp / 1 days;
        uint256 available = limit - deliveredOn[token][today];
        if (amount > available) revert DailyLimitExceeded(token, amount, available);
        deliveredOn[token][today] += amount;
    }

    function _setValidators(address[] memory validators_, uint256 threshold_) private {
        for (uint256 i = 0; i < _validators.length; i++) isValidator[_validators[i]] = false;
        if (threshold_ == 0 || threshold_ > validators_.length || validators_.length > MOST_VALIDATORS) {
            revert InvalidThreshold(threshold_, validators_.length);
        }
        for (uint256 i = 0; i < validators_.length; i++) {
            if (isValidator[validators_[i]]) revert DuplicateValidator(validators_[i]);
            isValidator[validators_[i]] = true;
        }
        _validators = validators_;
        threshold = threshold_;
        emit ValidatorsChanged(validators_, threshold_);
    }

    /// Tokens that keep a part of each transfer for themselves would leave less here than is owed at the other end.
    function _take(address token, uint256 amount) private {
        if (token == NATIVE) {
            if (msg.value != amount) revert WrongValue(msg.value, amount);
            return;
        }
        if (msg.value != 0) revert WrongValue(msg.value, 0);
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 received = IERC20(token).balanceOf(address(this)) - before;
        if (received != amount) revert WrongReceipt(received, amount);
    }

    function _give(address token, address to, uint256 amount) private {
        if (token == NATIVE) Address.sendValue(payable(to), amount);
        else IERC20(token).safeTransfer(to, amount);
    }
}
