"""The report's page: template, style and script, put into one HTML file by ``kdata.report``."""
