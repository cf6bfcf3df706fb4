# SPDX-License-Identifier: MIT
"""A headless Chromium for tests of pages. The process may be that of a Python without selenium: then Debian's takes over."""
import os
import shutil
import sys


def need(*programs):
    """Ends with 77, which Meson counts as skipped, and the reason where something is missing."""
    for program in ('chromium', 'chromedriver', *programs):
        if not shutil.which(program):
            print(f'{program} is not installed')
            sys.exit(77)
    try:
        import selenium  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath('/usr/bin/python3') and os.path.exists('/usr/bin/python3'):
            os.execv('/usr/bin/python3', ['/usr/bin/python3', '-B', *sys.argv])
        print('python3-selenium is not installed')
        sys.exit(77)


def start(dark=False):
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for flag in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'):
        options.add_argument(flag)
    if dark:
        options.add_argument('--force-dark-mode')
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    service = webdriver.ChromeService(executable_path=shutil.which('chromedriver')) if hasattr(webdriver, 'ChromeService') else None
    driver = webdriver.Chrome(options=options, service=service) if service else webdriver.Chrome(options=options)
    driver.set_script_timeout(240)
    return driver


def scheme(driver, name):
    """'light' or 'dark', as the system of the reader has it."""
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': name}]})


def size(driver, width, height):
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 500})


def errors(driver):
    return [entry['message'] for entry in driver.get_log('browser') if entry['level'] == 'SEVERE']
