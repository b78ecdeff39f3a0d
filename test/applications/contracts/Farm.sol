// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IssuedToken} from "./IssuedToken.sol";

/// Farming pools: who stakes shares of a pool earns exchange tokens. A fixed emission a second is divided among plots by
/// weight, and within a plot by stake and time. All divisions round down, so rewards never exceed the emission; what is
/// emitted while a plot has no stake is issued to nobody.
contract Farm is Ownable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    struct Plot {
        IERC20 token;
        uint256 weight;
        uint256 staked;
        /// Rewards of one staked unit since the beginning, times SCALE.
        uint256 rewardPerUnit;
        uint256 settledAt;
    }

    struct Stake {
        uint256 amount;
        /// The plot's `rewardPerUnit` up to which `owed` is complete.
        uint256 settledPerUnit;
        uint256 owed;
    }

    uint256 private constant SCALE = 1e18;
    /// Adding a plot settles all others.
    uint256 public constant MOST_PLOTS = 32;

    IssuedToken public immutable rewardToken;
    uint256 public immutable emissionPerSecond;
    uint256 public totalWeight;
    uint256 public totalPaid;
    Plot[] public plots;
    mapping(uint256 plot => mapping(address account => Stake)) public stakes;

    event PlotAdded(uint256 indexed plot, IERC20 indexed token, uint256 weight);
    event Deposited(uint256 indexed plot, address indexed account, uint256 amount);
    event Withdrawn(uint256 indexed plot, address indexed account, uint256 amount);
    event Claimed(uint256 indexed plot, address indexed account, uint256 reward);

    error NoPlot(uint256 plot);
    error TooManyPlots();
    error ZeroAmount();
    error StakeTooSmall(uint256 asked, uint256 staked);
    error NothingToClaim();

    constructor(IssuedToken rewardToken_, uint256 emissionPerSecond_) Ownable(msg.sender) {
        (rewardToken, emissionPerSecond) = (rewardToken_, emissionPerSecond_);
    }

    function addPlot(IERC20 token, uint256 weight) external onlyOwner returns (uint256 plot) {
        plot = plots.length;
        if (plot == MOST_PLOTS) revert TooManyPlots();
        if (weight == 0) revert ZeroAmount();
        for (uint256 i = 0; i < plot; i++) _settle(plots[i]);
        totalWeight += weight;
        plots.push(Plot(token, weight, 0, 0, block.timestamp));
        emit PlotAdded(plot, token, weight);
    }

    function deposit(uint256 plot, uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        (Plot storage field, Stake storage stake) = _settled(plot, msg.sender);
        stake.amount += amount;
        field.staked += amount;
        emit Deposited(plot, msg.sender, amount);
        field.token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// Rewards earned so far stay claimable.
    function withdraw(uint256 plot, uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        (Plot storage field, Stake storage stake) = _settled(plot, msg.sender);
        if (amount > stake.amount) revert StakeTooSmall(amount, stake.amount);
        stake.amount -= amount;
        field.staked -= amount;
        emit Withdrawn(plot, msg.sender, amount);
        field.token.safeTransfer(msg.sender, amount);
    }

    function claim(uint256 plot) external nonReentrant returns (uint256 reward) {
        (, Stake storage stake) = _settled(plot, msg.sender);
        reward = stake.owed;
        if (reward == 0) revert NothingToClaim();
        stake.owed = 0;
        totalPaid += reward;
        emit Claimed(plot, msg.sender, reward);
        rewardToken.mint(msg.sender, reward);
    }

    /// What `claim` would pay now.
    function pending(uint256 plot, address account) external view returns (uint256) {
        if (plot >= plots.length) revert NoPlot(plot);
        Stake storage stake = stakes[plot][account];
        uint256 perUnit = plots[plot].rewardPerUnit + _accrued(plots[plot]);
        return stake.owed + Math.mulDiv(stake.amount, perUnit - stake.settledPerUnit, SCALE);
    }

    function plotCount() external view returns (uint256) {
        return plots.length;
    }

    function _settled(uint256 plot, address account) private returns (Plot storage field, Stake storage stake) {
        if (plot >= plots.length) revert NoPlot(plot);
        (field, stake) = (plots[plot], stakes[plot][account]);
        _settle(field);
        stake.owed += Math.mulDiv(stake.amount, field.rewardPerUnit - stake.settledPerUnit, SCALE);
        stake.settledPerUnit = field.rewardPerUnit;
    }

    function _settle(Plot storage field) private {
        field.rewardPerUnit += _accrued(field);
        field.settledAt = block.timestamp;
    }

    /// What one unit has earned since the plot was settled, times SCALE.
    function _accrued(Plot storage field) private view returns (uint256) {
        if (field.staked == 0) return 0;
        uint256 emitted = Math.mulDiv((block.timestamp - field.settledAt) * emissionPerSecond, field.weight, totalWeight);
        return Math.mulDiv(emitted, SCALE, field.staked);
    }
}
